import { randomUUID } from "node:crypto";
import type { Answer, Call, Conversation, Frame, ModelRequest, Protocol, Runtime, Turn, Usage } from "./conversation.ts";
import { isOwnText, recogniseRuntime } from "./runtimes.ts";

interface Block {
  type: string;
  text?: string;
}

interface Body {
  model: string;
  system?: string | Block[];
  messages: { role: string; content: string | Block[] }[];
  tools?: { name: string }[];
  stream?: boolean;
}

/** Anthropic Messages. */
export const anthropic: Protocol = {
  answers: ({ method, path }) => method === "POST" && /^\/v1\/messages(\?|$)/.test(path),
  read: readRequest,
  stream: streamAnswer,
  whole: (answer) => ({
    ...message(answer),
    content: [
      ...thinking(answer),
      ...(answer.deltas.length > 0 ? [{ type: "text", text: answer.deltas.join("") }] : []),
      ...answer.calls.map(toolUse),
    ],
    stop_reason: stopReason(answer),
    usage: usage(answer.usage),
  }),
  errorBody(status) {
    const types: Record<number, string> = {
      400: "invalid_request_error",
      401: "authentication_error",
      403: "permission_error",
      404: "not_found_error",
      429: "rate_limit_error",
      529: "overloaded_error",
    };
    return {
      type: "error",
      error: { type: types[status] ?? "api_error", message: `Scripted error ${status}` },
      request_id: "req_scripted",
    };
  },
  other({ method, path }) {
    if (method === "POST" && path.startsWith("/v1/messages/count_tokens")) return { input_tokens: 130 };
    return path.startsWith("/api/hello") ? { message: "hello" } : undefined;
  },
};

function readRequest({ body, headers }: ModelRequest): Conversation {
  const { model, system = "", messages, tools = [], stream = false } = body as Body;
  const runtime = recogniseRuntime(headers["user-agent"], "claude");
  return {
    runtime,
    model,
    // Claude Code puts parts of its system prompt between the messages.
    system: textOf([...blocksOf(system), ...messages.filter(isSystem).flatMap(({ content }) => blocksOf(content))]),
    turns: messages.filter((message) => !isSystem(message)).flatMap(({ role, content }) => readMessage(role, blocksOf(content), runtime)),
    tools: tools.map(({ name }) => ({ name })),
    stream,
  };
}

function isSystem({ role }: { role: string }): boolean {
  return role === "system";
}

/** Tool results are parts of user messages, which can also contain text. */
function readMessage(role: string, blocks: Block[], runtime: Runtime): Turn[] {
  if (role === "assistant") return [{ role }];
  const texts = blocks.filter(({ type, text }) => type === "text" && !isOwnText(runtime, text ?? ""));
  return [
    ...(blocks.some(({ type }) => type === "tool_result") ? [{ role: "tool" } as const] : []),
    ...(texts.length > 0 ? [{ role: "user", text: textOf(texts) } as const] : []),
  ];
}

function blocksOf(content: string | Block[]): Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function textOf(blocks: Block[]): string {
  return blocks.map(({ text }) => text ?? "").join("\n");
}

function* streamAnswer(answer: Answer): Iterable<Frame> {
  const { deltas, calls, stops } = answer;
  yield frame("message_start", { message: message(answer) });
  let index = 0;
  for (const { thinking: thought, signature } of thinking(answer)) {
    yield frame("content_block_start", { index, content_block: { type: "thinking", thinking: "", signature: "" } });
    yield frame("content_block_delta", { index, delta: { type: "thinking_delta", thinking: thought } });
    yield frame("content_block_delta", { index, delta: { type: "signature_delta", signature } });
    yield frame("content_block_stop", { index });
    index += 1;
  }
  if (deltas.length > 0) {
    yield frame("content_block_start", { index, content_block: { type: "text", text: "" } });
    for (const text of deltas) yield frame("content_block_delta", { index, delta: { type: "text_delta", text } });
    if (stops?.in === "text" && stops.by === "an error")
      yield frame("error", { error: { type: "overloaded_error", message: "Overloaded" } });
    if (stops?.in === "text") return;
    yield frame("content_block_stop", { index });
    index += 1;
  }
  if (stops?.in === "text") return;
  for (const call of calls) {
    yield frame("content_block_start", { index, content_block: { ...toolUse(call), input: {} } });
    const input = JSON.stringify(call.input);
    const middle = Math.ceil(input.length / 2);
    for (const partial_json of [input.slice(0, middle), input.slice(middle)]) {
      yield frame("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
      if (stops?.in === "call") return;
    }
    yield frame("content_block_stop", { index });
    index += 1;
  }
  yield frame("message_delta", { delta: { stop_reason: stopReason(answer), stop_sequence: null }, usage: usage(answer.usage) });
  yield frame("message_stop", {});
}

function frame(event: string, data: object): Frame {
  return { event, data: { type: event, ...data } };
}

function message({ model, usage: counted }: Answer) {
  return {
    id: `msg_${randomUUID()}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage(counted), output_tokens: 1 },
  };
}

function thinking({ thought }: Answer) {
  return thought === "" ? [] : [{ type: "thinking", thinking: thought, signature: "c2NyaXB0ZWQ=" }];
}

function toolUse({ id, name, input }: Call) {
  return { type: "tool_use", id, name, input };
}

function stopReason({ calls, finish }: Answer): string {
  if (finish !== undefined) return finish === "length" ? "max_tokens" : "refusal";
  return calls.length > 0 ? "tool_use" : "end_turn";
}

/** The protocol counts the prompt in three parts without overlap. Tokens written to the cache are one of them. */
function usage({ prompt, cached, answer, thinking }: Usage) {
  const written = cached / 2;
  return {
    input_tokens: prompt - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: answer,
    output_tokens_details: { thinking_tokens: thinking },
  };
}
