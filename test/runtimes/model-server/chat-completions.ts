import { randomUUID } from "node:crypto";
import {
  type Answer,
  type Conversation,
  type Frame,
  firstHalf,
  type ModelRequest,
  type Protocol,
  type Runtime,
  type Turn,
  type Usage,
} from "./conversation.ts";
import { isOwnText, recogniseRuntime, withoutOwnTail } from "./runtimes.ts";

interface Message {
  role: string;
  content?: string | { type: string; text?: string }[] | null;
}

interface Body {
  model: string;
  messages: Message[];
  tools?: { function: { name: string } }[];
  stream?: boolean;
}

/** OpenAI chat completions. */
export const chatCompletions: Protocol = {
  answers: ({ method, path }) => method === "POST" && /^\/v1\/chat\/completions(\?|$)/.test(path),
  read: readRequest,
  stream: streamAnswer,
  whole: (answer) => ({
    ...head(answer),
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          ...thinking(answer),
          content: answer.deltas.length > 0 && answer.finish !== "refusal" ? answer.deltas.join("") : null,
          ...(answer.finish === "refusal" ? { refusal: answer.deltas.join("") } : {}),
          ...(answer.calls.length > 0 ? { tool_calls: toolCalls(answer) } : {}),
        },
        finish_reason: finishReason(answer),
      },
    ],
    usage: usage(answer.usage),
  }),
  errorBody: openaiErrorBody,
};

/** The body of OpenAI's errors, the same in both of its protocols. */
export function openaiErrorBody(status: number) {
  const kinds: Record<number, [type: string, code: string | null]> = {
    401: ["invalid_request_error", "invalid_api_key"],
    404: ["invalid_request_error", "model_not_found"],
    429: ["requests", "rate_limit_exceeded"],
  };
  const [type, code] = kinds[status] ?? [status >= 500 ? "server_error" : "invalid_request_error", null];
  return { error: { message: `Scripted error ${status}`, type, param: null, code } };
}

function readRequest({ body, headers }: ModelRequest): Conversation {
  const { model, messages, tools = [], stream = false } = body as Body;
  const runtime = recogniseRuntime(headers["user-agent"], "opencode");
  const isSystem = ({ role }: Message) => role === "system" || role === "developer";
  return {
    runtime,
    model,
    system: messages
      .filter(isSystem)
      .map(({ content }) => textsOf(content).join("\n"))
      .join("\n"),
    turns: messages.filter((message) => !isSystem(message)).flatMap((message) => readMessage(message, runtime)),
    tools: tools.map((tool) => ({ name: tool.function.name })),
    stream,
  };
}

function readMessage({ role, content }: Message, runtime: Runtime): Turn[] {
  if (role !== "user") return [{ role: role === "tool" ? "tool" : "assistant" }];
  const texts = textsOf(content).filter((text) => !isOwnText(runtime, text));
  return texts.length > 0 ? [{ role, text: withoutOwnTail(runtime, texts.join("\n")) }] : [];
}

function textsOf(content: Message["content"]): string[] {
  return typeof content === "string" ? [content] : (content ?? []).map(({ text }) => text ?? "");
}

function* streamAnswer(answer: Answer): Iterable<Frame> {
  const start = { ...head(answer), object: "chat.completion.chunk" };
  const chunk = (delta: object, finish_reason: string | null = null): Frame => ({
    data: { ...start, choices: [{ index: 0, delta, finish_reason }] },
  });
  yield chunk({ role: "assistant", content: "" });
  if (answer.thought !== "") yield chunk(thinking(answer));
  for (const text of answer.deltas) yield chunk(answer.finish === "refusal" ? { refusal: text } : { content: text });
  if (answer.stops?.in === "text") return;
  for (const [index, call] of toolCalls(answer).entries()) {
    yield chunk({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: "" } }] });
    const { arguments: input } = call.function;
    if (answer.stops?.in === "call") return yield chunk({ tool_calls: [{ index, function: { arguments: firstHalf(input) } }] });
    yield chunk({ tool_calls: [{ index, function: { arguments: input } }] });
  }
  yield chunk({}, finishReason(answer));
  yield { data: { ...start, choices: [], usage: usage(answer.usage) } };
  yield { data: "[DONE]" };
}

/** Not supported by OpenAI, but by most other servers of its protocol. */
function thinking({ thought }: Answer) {
  return thought === "" ? {} : { reasoning_content: thought };
}

function head({ model }: Answer) {
  return { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model };
}

function toolCalls({ calls }: Answer) {
  return calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } }));
}

function finishReason({ calls, finish }: Answer): string {
  // A refusal has a separate field, and ends like any other answer.
  if (finish === "length") return "length";
  return calls.length > 0 ? "tool_calls" : "stop";
}

function usage({ prompt, cached, answer, thinking }: Usage) {
  return {
    prompt_tokens: prompt,
    completion_tokens: answer,
    total_tokens: prompt + answer,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: thinking },
  };
}
