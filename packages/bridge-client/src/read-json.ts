import { BridgeClientError } from "./bridge-client-error.ts";
import type { Connection } from "./connection.ts";
import { readText } from "./read-text.ts";

/** Reads the complete JSON of a response. */
export async function readJson(connection: Connection, parseJson: (text: string) => unknown): Promise<unknown> {
  let text = "";
  for await (const chunk of readText(connection)) text += chunk;
  try {
    return parseJson(text);
  } catch (cause) {
    const { status, headers } = connection.response;
    const requestId = headers.get("x-request-id");
    throw new BridgeClientError("unexpected_answer", `HTTP ${status}: ${text.slice(0, 200)}`, { status, requestId, cause });
  }
}
