import { BridgeClientError } from "./bridge-client-error.ts";
import type { Connection } from "./connection.ts";

/** The JSON of an answer, whole. */
export async function readJson({ response, receive, close }: Connection): Promise<unknown> {
  const text = await receive(response.text()).finally(close);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { status, headers } = response;
    const requestId = headers.get("x-request-id");
    throw new BridgeClientError("unexpected_answer", `HTTP ${status}: ${text.slice(0, 200)}`, { status, requestId, cause });
  }
}
