import { randomUUID } from "node:crypto";
import { openaiErrorBody } from "./chat-completions.ts";
import {
  type Answer,
  type Call,
  type Conversation,
  type Frame,
  firstHalf,
  type ModelRequest,
  type OfferedTool,
  type Protocol,
  type Runtime,
  type Turn,
  type Usage,
} from "./conversation.ts";
import { isOwnText, recogniseRuntime } from "./runtimes.ts";

interface Item {
  type?: string;
  role?: string;
  content?: string | { type: string; text?: string }[];
  /** Codex offers tools to some models inside the input. */
  tools?: OfferedItem[];
}

interface OfferedItem {
  type: string;
  name?: string;
  tools?: OfferedItem[];
}

interface Body {
  model: string;
  instructions?: string;
  input: string | Item[];
  tools?: OfferedItem[];
  stream?: boolean;
}

/** OpenAI Responses. */
export const responses: Protocol = {
  answers: ({ method, path }) => method === "POST" && /^\/v1\/responses(\?|$)/.test(path),
  read: readRequest,
  stream: streamAnswer,
  whole: (answer) => ({ ...response(answer), ...ending(answer), output: output(answer), usage: usage(answer.usage) }),
  errorBody: openaiErrorBody,
};

function readRequest({ body, headers }: ModelRequest): Conversation {
  const { model, instructions = "", input, tools = [], stream = false } = body as Body;
  const runtime = recogniseRuntime(headers["user-agent"], "codex");
  const items: Item[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
  return {
    runtime,
    model,
    system: [instructions, ...items.filter(isSystem).map(textOf)].join("\n"),
    turns: items.filter((item) => !isSystem(item)).flatMap((item) => readItem(item, runtime)),
    tools: [...tools, ...items.flatMap((item) => item.tools ?? [])].flatMap((tool) => readTools(tool)),
    stream,
  };
}

function isSystem({ role }: Item): boolean {
  return role === "system" || role === "developer";
}

function readItem(item: Item, runtime: Runtime): Turn[] {
  if (item.role === "user") {
    const text = textOf(item);
    return isOwnText(runtime, text) ? [] : [{ role: "user", text }];
  }
  // Codex appends the reasoning level to the user's message for its own models.
  if (item.type === "configuration_update") return [];
  return item.type?.endsWith("_output") ? [{ role: "tool" }] : [{ role: "assistant" }];
}

function textOf({ content = [] }: Item): string {
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");
}

function readTools({ type, name = type, tools = [] }: OfferedItem, namespace?: string): OfferedTool[] {
  if (type === "namespace") return tools.flatMap((tool) => readTools(tool, name));
  return [{ name, ...(namespace === undefined ? {} : { namespace }) }];
}

function* streamAnswer(answer: Answer): Iterable<Frame> {
  let sequence_number = 0;
  const frame = (event: string, data: object): Frame => {
    sequence_number += 1;
    return { event, data: { type: event, sequence_number, ...data } };
  };
  const started = response(answer);
  yield frame("response.created", { response: started });
  const items = output(answer);
  for (const [output_index, item] of items.entries()) {
    const at = { output_index, item_id: item.id };
    const { opened, deltas, finished } = framesOf(item, answer);
    yield frame("response.output_item.added", { output_index, item: opened });
    for (const [event, data] of deltas) yield frame(event, { ...at, ...data });
    if (answer.stops?.in === (item.type === "message" ? "text" : "call")) return;
    for (const [event, data] of finished) yield frame(event, { ...at, ...data });
    yield frame("response.output_item.done", { output_index, item });
  }
  if (answer.stops !== undefined) return;
  const event = answer.finish === "length" ? "response.incomplete" : "response.completed";
  yield frame(event, { response: { ...started, ...ending(answer), output: items, usage: usage(answer.usage) } });
}

/** The end of an answer. A refusal ends like any other answer. */
function ending({ finish }: Answer) {
  if (finish !== "length") return { status: "completed" };
  return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
}

type OutputItem = ReturnType<typeof reasoningItem> | ReturnType<typeof messageItem> | ReturnType<typeof callItem>;
type Named = [event: string, data: object];

/** The frames of one output item: its opening, its deltas and its end. */
function framesOf(item: OutputItem, answer: Answer): { opened: object; deltas: Named[]; finished: Named[] } {
  if (item.type === "reasoning") {
    const [summary_index, part] = [0, { type: "summary_text" }];
    return {
      opened: { ...item, summary: [] },
      deltas: [
        ["response.reasoning_summary_part.added", { summary_index, part: { ...part, text: "" } }],
        ["response.reasoning_summary_text.delta", { summary_index, delta: answer.thought }],
      ],
      finished: [
        ["response.reasoning_summary_text.done", { summary_index, text: answer.thought }],
        ["response.reasoning_summary_part.done", { summary_index, part: { ...part, text: answer.thought } }],
      ],
    };
  }
  if (item.type === "message" && answer.finish === "refusal") {
    const content_index = 0;
    const [refusal = { type: "refusal" }] = item.content;
    return {
      opened: { ...item, status: "in_progress", content: [] },
      deltas: [
        ["response.content_part.added", { content_index, part: { type: "refusal", refusal: "" } }],
        ...answer.deltas.map((delta): Named => ["response.refusal.delta", { content_index, delta }]),
      ],
      finished: [
        ["response.refusal.done", { content_index, refusal: answer.deltas.join("") }],
        ["response.content_part.done", { content_index, part: refusal }],
      ],
    };
  }
  if (item.type === "message") {
    const content_index = 0;
    const text = answer.deltas.join("");
    const part = { type: "output_text", annotations: [] };
    return {
      opened: { ...item, status: "in_progress", content: [] },
      deltas: [
        ["response.content_part.added", { content_index, part: { ...part, text: "" } }],
        ...answer.deltas.map((delta): Named => ["response.output_text.delta", { content_index, delta }]),
      ],
      finished: [
        ["response.output_text.done", { content_index, text }],
        ["response.content_part.done", { content_index, part: { ...part, text } }],
      ],
    };
  }
  const sent = (input: string): string => (answer.stops?.in === "call" ? firstHalf(input) : input);
  if (item.type === "local_shell_call") return { opened: { ...item, status: "in_progress" }, deltas: [], finished: [] };
  if ("input" in item) {
    return {
      opened: { ...item, input: "" },
      deltas: [["response.custom_tool_call_input.delta", { delta: sent(item.input) }]],
      finished: [["response.custom_tool_call_input.done", { input: item.input }]],
    };
  }
  return {
    opened: { ...item, arguments: "" },
    deltas: [["response.function_call_arguments.delta", { delta: sent(item.arguments) }]],
    finished: [["response.function_call_arguments.done", { arguments: item.arguments }]],
  };
}

function response({ model }: Answer) {
  return {
    id: `resp_${randomUUID()}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: "in_progress",
    model,
    output: [],
  };
}

function output({ thought, deltas, calls, finish }: Answer): OutputItem[] {
  return [
    ...(thought === "" ? [] : [reasoningItem(thought)]),
    ...(deltas.length > 0 ? [messageItem(deltas.join(""), finish === "refusal")] : []),
    ...calls.map(callItem),
  ];
}

function reasoningItem(text: string) {
  const summary = [{ type: "summary_text", text }];
  return { id: `rs_${randomUUID()}`, type: "reasoning" as const, summary, encrypted_content: "c2NyaXB0ZWQ=" };
}

function messageItem(text: string, isRefusal: boolean) {
  const content = [isRefusal ? { type: "refusal", refusal: text } : { type: "output_text", text, annotations: [] }];
  return { id: `msg_${randomUUID()}`, type: "message" as const, role: "assistant", status: "completed", content };
}

function callItem({ id: call_id, name, namespace, input }: Call) {
  const item = { id: `fc_${randomUUID()}`, call_id, status: "completed" };
  if (name === "local_shell" && typeof input !== "string") {
    return { ...item, type: "local_shell_call" as const, action: { type: "exec", ...input } };
  }
  const place = { name, ...(namespace === undefined ? {} : { namespace }) };
  return typeof input === "string"
    ? { ...item, ...place, type: "custom_tool_call" as const, input }
    : { ...item, ...place, type: "function_call" as const, arguments: JSON.stringify(input) };
}

function usage({ prompt, cached, answer, thinking }: Usage) {
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: answer,
    output_tokens_details: { reasoning_tokens: thinking },
    total_tokens: prompt + answer,
  };
}
