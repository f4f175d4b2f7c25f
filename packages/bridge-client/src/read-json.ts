import { BridgeClientError } from "./bridge-client-error.ts";
import type { Connection } from "./connection.ts";
import { readPieces } from "./read-pieces.ts";

/** The JSON of an answer, whole. */
export async function readJson(connection: Connection): Promise<unknown> {
  let text = "";
  for await (const piece of readPieces(connection)) text += piece;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { status, headers } = connection.response;
    const requestId = headers.get("x-request-id");
    throw new BridgeClientError("unexpected_answer", `HTTP ${status}: ${text.slice(0, 200)}`, { status, requestId, cause });
  }
}
