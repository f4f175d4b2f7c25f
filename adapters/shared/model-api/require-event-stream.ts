import { z } from "zod";
import type { ModelEndpoint, ModelFetch } from "./model-endpoint.ts";
import { ModelFailure, mapReportedError, redact } from "./model-failure.ts";

/** The first characters of an event stream: the name of a field, or a comment. */
const EVENT_START = /^(data|event|id|retry)?:/;
const LONGEST_START = "event:".length;
const OTHER_START = /^[{[<]/;
const MAX_EXCERPT_LENGTH = 300;

const messageSchema = z.looseObject({ tool_calls: z.array(z.looseObject({})).nullish() });
const completionSchema = z.looseObject({ choices: z.array(z.looseObject({ message: messageSchema })).min(1) });
const errorSchema = z.object({ error: z.union([z.string().min(1), z.looseObject({})]) });

/**
 * Wraps the fetch of a model: if an endpoint answers a model call successfully, but not with an event stream, a complete chat completion
 * becomes a stream, and anything else a `ModelFailure` that describes the answer. The SDK would report only that the stream has no end.
 */
export function requireEventStream(fetch: ModelFetch, endpoint: Pick<ModelEndpoint, "secrets">): ModelFetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    // Other requests, such as the one for a token, have no JSON body.
    const isModelCall = typeof init?.body === "string" && init.body.startsWith("{");
    if (!isModelCall || !response.ok) return response;
    const type = response.headers.get("content-type") ?? "";
    const { start, body } = await peek(response);
    const isStream = EVENT_START.test(start) || (type.startsWith("text/event-stream") && start !== "" && !OTHER_START.test(start));
    if (isStream) return new Response(body, response);
    const text = await new Response(body).text();
    const { status } = response;
    const json = parseJson(text);
    const completion = completionSchema.safeParse(json).data;
    if (completion !== undefined) return new Response(streamCompletion(completion), { headers: { "content-type": "text/event-stream" } });
    const reported = errorSchema.safeParse(json).data?.error;
    if (reported !== undefined) {
      const { errorCode, message } = mapReportedError(reported, endpoint.secrets);
      throw new ModelFailure(errorCode, `The model's endpoint answered HTTP ${status} with an error instead of a stream: ${message}`);
    }
    const excerpt = redact(text.replaceAll(/\s+/g, " ").trim(), endpoint.secrets).slice(0, MAX_EXCERPT_LENGTH);
    throw new ModelFailure(
      "model_error",
      `The model's endpoint answered HTTP ${status} without an event stream (content type: ${type === "" ? "none" : redact(type, endpoint.secrets)}; ${excerpt === "" ? "no content" : `content: ${excerpt}`}). Check the base URL.`,
    );
  };
}

/** Reads a body up to its first characters that are not blank. The returned body has all bytes. */
async function peek({ body }: Response): Promise<{ start: string; body: ReadableStream<Uint8Array> | null }> {
  if (body === null) return { start: "", body };
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const read: Uint8Array[] = [];
  let start = "";
  let isComplete = false;
  while (start.length < LONGEST_START && !isComplete) {
    const { done, value } = await reader.read();
    isComplete = done;
    if (value === undefined) continue;
    read.push(value);
    start = (start + decoder.decode(value, { stream: true })).trimStart();
  }
  const rest = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of read) controller.enqueue(chunk);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { start, body: rest };
}

/** Converts a complete chat completion to the events of a stream with one chunk. */
function streamCompletion(completion: z.infer<typeof completionSchema>): string {
  const choices = completion.choices.map(({ message, ...choice }) => ({
    ...choice,
    delta: { ...message, tool_calls: message.tool_calls?.map((call, index) => ({ index, ...call })) },
  }));
  return `data: ${JSON.stringify({ ...completion, object: "chat.completion.chunk", choices })}\n\ndata: [DONE]\n\n`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
