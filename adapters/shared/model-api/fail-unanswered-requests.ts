import { type McpServerSpec, parseExactJson } from "#contract";
import type { ModelFetch } from "./model-endpoint.ts";
import { networkErrorCode } from "./model-failure.ts";

type RequestId = number | string;
/** Creates the error response of a request without a result. */
type CreateError = (id: RequestId, reason?: string) => object;

/**
 * Wraps the fetch of a remote MCP transport: when an HTTP response ends without the result of a request, an error
 * response is appended for that request. Without it, the client would wait forever. The client ignores an error for a
 * request that already has a result.
 */
export function failUnansweredRequests(fetch: ModelFetch, { name, transport }: Pick<McpServerSpec, "name" | "transport">): ModelFetch {
  const createError: CreateError = (id, reason) => ({
    jsonrpc: "2.0",
    id,
    error: {
      code: -32_000,
      message: `The answer of the MCP server ${JSON.stringify(name)} ended without a result${reason === undefined ? "." : `: ${reason}`}`,
    },
  });
  return transport === "sse" ? failInSharedStream(fetch, createError) : failPerResponse(fetch, createError);
}

/** For the `http` transport: the result of a request is in the response to its POST. */
const failPerResponse =
  (fetch: ModelFetch, createError: CreateError): ModelFetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method !== "POST" || !response.ok) return response;
    const id = readRequestId(init.body);
    if (id === null || response.status === 202) cancelBody(response);
    if (id === null) return new Response(null, response);
    if (response.status === 202) return Response.json(createError(id));
    const type = response.headers.get("content-type") ?? "";
    if (type.includes("text/event-stream")) return appendEvents(response, (reason) => [createError(id, reason)]);
    return type.includes("application/json") ? appendJson(response, createError(id)) : response;
  };

/** For the `sse` transport: all results are in the stream that the first GET opened. */
function failInSharedStream(fetch: ModelFetch, createError: CreateError): ModelFetch {
  const ids: RequestId[] = [];
  return async (input, init) => {
    const id = readRequestId(init?.body);
    if (id !== null) ids.push(id);
    const response = await fetch(input, init);
    if (!response.ok) return response;
    if (init?.method !== "POST") return appendEvents(response, (reason) => ids.map((requestId) => createError(requestId, reason)));
    cancelBody(response);
    return new Response(null, response);
  };
}

/** Returns the id of a request; null for a notification or a response. */
function readRequestId(body: unknown): RequestId | null {
  if (typeof body !== "string") return null;
  const { id, method } = JSON.parse(body) as { id?: RequestId; method?: string };
  return method === undefined ? null : (id ?? null);
}

/** Cancels a body that is not read. An unread body would count as a running request forever. */
function cancelBody({ body }: Response): void {
  body?.cancel().catch(() => {});
}

/** Appends events to an event stream, also if the stream ends with an error. */
function appendEvents(response: Response, createMessages: (reason?: string) => object[]): Response {
  async function* events(body: AsyncIterable<Uint8Array>) {
    let reason: string | undefined;
    try {
      yield* body;
    } catch (error) {
      reason = networkErrorCode(error) ?? (error as Error).message;
    }
    // The blank line terminates an incomplete event.
    yield Buffer.from(
      `\n\n${createMessages(reason)
        .map((message) => `data: ${JSON.stringify(message)}\n\n`)
        .join("")}`,
    );
  }
  return response.body === null ? response : new Response(ReadableStream.from(events(response.body)), response);
}

/** Appends a message to a JSON body, which holds one message or an array. */
async function appendJson(response: Response, message: object): Promise<Response> {
  const text = await response.text();
  try {
    const messages = parseExactJson(text);
    return new Response(JSON.stringify([messages, message].flat()), { headers: response.headers });
  } catch {
    return new Response(text, response);
  }
}
