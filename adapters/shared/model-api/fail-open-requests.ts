import type { McpServerSpec } from "#contract";
import type { ModelFetch } from "./model-endpoint.ts";
import { networkWords } from "./model-failure.ts";

type RequestId = number | string;
/** The error that answers what an answer has left open. */
type NoResult = (id: RequestId, why?: string) => object;

/**
 * A fetch for the remote transports of MCP, which wait for ever for a result that never comes: when an answer ends, what it has left open is
 * answered with an error of the protocol. What is answered already, they do not hear twice.
 */
export function failOpenRequests(fetch: ModelFetch, { name, transport }: Pick<McpServerSpec, "name" | "transport">): ModelFetch {
  const noResult: NoResult = (id, why) => ({
    jsonrpc: "2.0",
    id,
    error: {
      code: -32_000,
      message: `The answer of ${JSON.stringify(name)} ended without a result${why === undefined ? "." : `: ${why}`}`,
    },
  });
  return transport === "sse" ? answeredInOneStream(fetch, noResult) : answeredOneByOne(fetch, noResult);
}

/** Each request has its result in its own answer. */
const answeredOneByOne =
  (fetch: ModelFetch, noResult: NoResult): ModelFetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method !== "POST" || !response.ok) return response;
    const id = readRequestId(init.body);
    if (id === null || response.status === 202) dismiss(response);
    if (id === null) return new Response(null, response);
    if (response.status === 202) return Response.json(noResult(id));
    const type = response.headers.get("content-type") ?? "";
    if (type.includes("text/event-stream")) return endEvents(response, (why) => [noResult(id, why)]);
    return type.includes("application/json") ? endJson(response, noResult(id)) : response;
  };

/** All results come in the answer that the connection has begun with. */
function answeredInOneStream(fetch: ModelFetch, noResult: NoResult): ModelFetch {
  const asked: RequestId[] = [];
  return async (input, init) => {
    const id = readRequestId(init?.body);
    if (id !== null) asked.push(id);
    const response = await fetch(input, init);
    if (!response.ok) return response;
    if (init?.method !== "POST") return endEvents(response, (why) => asked.map((open) => noResult(open, why)));
    dismiss(response);
    return new Response(null, response);
  };
}

/** Of a message that wants an answer; null for any other. */
function readRequestId(body: unknown): RequestId | null {
  if (typeof body !== "string") return null;
  const { id, method } = JSON.parse(body) as { id?: RequestId; method?: string };
  return method === undefined ? null : (id ?? null);
}

/** Nobody would read what else it says, and it would count as under way for ever. */
function dismiss({ body }: Response): void {
  body?.cancel().catch(() => {});
}

/** The same events, with these at their end, however they end. */
function endEvents(response: Response, lastOnes: (why?: string) => object[]): Response {
  async function* events(body: AsyncIterable<Uint8Array>) {
    let why: string | undefined;
    try {
      yield* body;
    } catch (error) {
      why = networkWords(error) ?? (error as Error).message;
    }
    // It may have broken off within an event.
    yield Buffer.from(
      `\n\n${lastOnes(why)
        .map((message) => `data: ${JSON.stringify(message)}\n\n`)
        .join("")}`,
    );
  }
  return response.body === null ? response : new Response(ReadableStream.from(events(response.body)), response);
}

/** The same message or messages, with this one at the end. */
async function endJson(response: Response, lastOne: object): Promise<Response> {
  const text = await response.text();
  try {
    const told: unknown = JSON.parse(text);
    return Response.json([told, lastOne].flat(), { headers: response.headers });
  } catch {
    return new Response(text, response);
  }
}
