import { createParser, type EventSourceMessage } from "eventsource-parser";

/** A conversation that a test sends; a call is a tool call of the assistant with its result. */
export interface ClientConversation {
  system?: string;
  turns: ({ user: string } | { assistant: string } | { call: string })[];
  tools?: string[];
}

/** The answer of the model, in a form that is independent of the protocol. */
export interface ReceivedAnswer {
  deltas: string[];
  calls: { name: string; input: unknown }[];
  usage: unknown;
}

/** The minimal client of one protocol. */
export interface WireClient {
  protocol: string;
  path(stream: boolean): string;
  body(conversation: ClientConversation, stream: boolean): object;
  readResponse(json: never): ReceivedAnswer;
  readStream(frames: never[]): ReceivedAnswer;
  /** The token counts of one call, in the fields of the protocol. */
  usage: object;
}

interface AnthropicBlock {
  type: string;
  text: string;
  name: string;
  input: unknown;
}

const anthropicUsage = {
  input_tokens: 120,
  cache_read_input_tokens: 20,
  cache_creation_input_tokens: 10,
  output_tokens: 30,
  output_tokens_details: { thinking_tokens: 5 },
};

const anthropic: WireClient = {
  protocol: "anthropic",
  path: () => "/v1/messages?beta=true",
  body: ({ system, turns, tools = [] }, stream) => ({
    model: "scripted",
    stream,
    ...(system === undefined ? {} : { system: [{ type: "text", text: system }] }),
    tools: tools.map((name) => ({ name, input_schema: {} })),
    messages: turns.flatMap((turn): object[] => {
      if ("user" in turn) return [{ role: "user", content: turn.user }];
      if ("assistant" in turn) return [{ role: "assistant", content: [{ type: "text", text: turn.assistant }] }];
      return [
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: turn.call, input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "done" }] },
      ];
    }),
  }),
  readResponse: ({ content, usage }: { content: AnthropicBlock[]; usage: unknown }) => ({
    deltas: content.flatMap(({ type, text }) => (type === "text" ? [text] : [])),
    calls: content.flatMap(({ type, name, input }) => (type === "tool_use" ? [{ name, input }] : [])),
    usage,
  }),
  readStream(
    frames: {
      type: string;
      index: number;
      content_block?: AnthropicBlock;
      delta?: { text?: string; partial_json?: string };
      usage?: unknown;
    }[],
  ) {
    const inputAt = (index: number) => frames.map((frame) => (frame.index === index ? (frame.delta?.partial_json ?? "") : "")).join("");
    return {
      deltas: frames.flatMap(({ delta }) => delta?.text ?? []),
      calls: frames.flatMap(({ content_block: block, index }) =>
        block?.type === "tool_use" ? [{ name: block.name, input: JSON.parse(inputAt(index)) }] : [],
      ),
      usage: frames.find(({ type }) => type === "message_delta")?.usage,
    };
  },
  usage: anthropicUsage,
};

interface ResponsesItem {
  type: string;
  name: string;
  arguments: string;
  input: string;
  content: { text: string }[];
}

const responses: WireClient = {
  protocol: "responses",
  path: () => "/v1/responses",
  body: ({ system, turns, tools = [] }, stream) => ({
    model: "scripted",
    stream,
    ...(system === undefined ? {} : { instructions: system }),
    tools: tools.map((name) => ({ type: name === "apply_patch" ? "custom" : "function", name })),
    input: turns.flatMap((turn): object[] => {
      if ("user" in turn) return [{ type: "message", role: "user", content: [{ type: "input_text", text: turn.user }] }];
      if ("assistant" in turn) return [{ type: "message", role: "assistant", content: [{ type: "output_text", text: turn.assistant }] }];
      return [
        { type: "function_call", call_id: "t1", name: turn.call, arguments: "{}" },
        { type: "function_call_output", call_id: "t1", output: "done" },
      ];
    }),
  }),
  readResponse: ({ output, usage }: { output: ResponsesItem[]; usage: unknown }) => ({
    deltas: output.flatMap(({ type, content }) => (type === "message" ? content.map(({ text }) => text) : [])),
    calls: output.flatMap((item) => {
      if (item.type === "custom_tool_call") return [{ name: item.name, input: item.input }];
      return item.type === "function_call" ? [{ name: item.name, input: JSON.parse(item.arguments) }] : [];
    }),
    usage,
  }),
  readStream(frames: { type: string; delta: string; item: ResponsesItem; response: { usage: unknown } }[]) {
    const items = frames.flatMap(({ type, item }) => (type === "response.output_item.done" ? [item] : []));
    const deltas = frames.flatMap(({ type, delta }) => (type === "response.output_text.delta" ? [delta] : []));
    const usage = frames.find(({ type }) => type === "response.completed")?.response.usage;
    return { ...responses.readResponse({ output: items } as never), deltas, usage };
  },
  usage: {
    input_tokens: 130,
    input_tokens_details: { cached_tokens: 20 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 160,
  },
};

interface ChatCall {
  index: number;
  function: { name?: string; arguments: string };
}

const chatCompletions: WireClient = {
  protocol: "chat-completions",
  path: () => "/v1/chat/completions",
  body: ({ system, turns, tools = [] }, stream) => ({
    model: "scripted",
    stream,
    tools: tools.map((name) => ({ type: "function", function: { name } })),
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      ...turns.flatMap((turn): object[] => {
        if ("user" in turn) return [{ role: "user", content: turn.user }];
        if ("assistant" in turn) return [{ role: "assistant", content: turn.assistant }];
        const tool_calls = [{ id: "t1", type: "function", function: { name: turn.call, arguments: "{}" } }];
        return [
          { role: "assistant", content: null, tool_calls },
          { role: "tool", tool_call_id: "t1", content: "done" },
        ];
      }),
    ],
  }),
  readResponse: ({ choices, usage }: { choices: { message: { content: string | null; tool_calls?: ChatCall[] } }[]; usage: unknown }) => ({
    deltas: choices.flatMap(({ message }) => message.content ?? []),
    calls: choices.flatMap(({ message }) =>
      (message.tool_calls ?? []).map((call) => ({ name: call.function.name ?? "", input: JSON.parse(call.function.arguments) })),
    ),
    usage,
  }),
  readStream(frames: { choices: { delta: { content?: string; tool_calls?: ChatCall[] } }[]; usage?: unknown }[]) {
    const deltas = frames.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.content || []));
    const pieces = frames.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    const calls = pieces.flatMap(({ index, function: { name } }) => {
      const input = pieces.map((piece) => (piece.index === index ? piece.function.arguments : "")).join("");
      return name === undefined ? [] : [{ name, input: JSON.parse(input) }];
    });
    return { deltas, calls, usage: frames.at(-1)?.usage };
  },
  usage: {
    prompt_tokens: 130,
    completion_tokens: 30,
    total_tokens: 160,
    prompt_tokens_details: { cached_tokens: 20 },
    completion_tokens_details: { reasoning_tokens: 5 },
  },
};

interface GeminiChunk {
  candidates: { content: { parts: { text?: string; functionCall?: { name: string; args: unknown } }[] } }[];
  usageMetadata?: unknown;
}

const gemini: WireClient = {
  protocol: "gemini",
  path: (stream) => `/v1beta/models/scripted:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  body: ({ system, turns, tools = [] }) => ({
    ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    tools: [{ functionDeclarations: tools.map((name) => ({ name })) }],
    contents: turns.flatMap((turn): object[] => {
      if ("user" in turn) return [{ role: "user", parts: [{ text: turn.user }] }];
      if ("assistant" in turn) return [{ role: "model", parts: [{ text: turn.assistant }] }];
      return [
        { role: "model", parts: [{ functionCall: { name: turn.call, args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name: turn.call, response: { output: "done" } } }] },
      ];
    }),
  }),
  readResponse: (chunk: GeminiChunk) => gemini.readStream([chunk] as never[]),
  readStream(frames: GeminiChunk[]) {
    const parts = frames.flatMap(({ candidates }) => candidates.flatMap(({ content }) => content.parts));
    return {
      deltas: parts.flatMap(({ text }) => text || []),
      calls: parts.flatMap(({ functionCall: call }) => (call === undefined ? [] : [{ name: call.name, input: call.args }])),
      usage: frames.at(-1)?.usageMetadata,
    };
  },
  usage: {
    promptTokenCount: 130,
    cachedContentTokenCount: 20,
    candidatesTokenCount: 30,
    thoughtsTokenCount: 5,
    totalTokenCount: 165,
  },
};

/** One client for each protocol of the model server. */
export const wireClients = { anthropic, responses, chatCompletions, gemini };

/** Posts a conversation. */
export async function post(
  url: string,
  client: WireClient,
  conversation: ClientConversation,
  stream = true,
  headers: Record<string, string> = {},
) {
  return await fetch(url + client.path(stream), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(client.body(conversation, stream)),
  });
}

/** Posts a conversation and reads the whole answer. */
export async function ask(
  url: string,
  client: WireClient,
  conversation: ClientConversation,
  stream = true,
  headers: Record<string, string> = {},
): Promise<ReceivedAnswer> {
  const response = await post(url, client, conversation, stream, headers);
  return stream ? client.readStream(readFrames(await response.text()) as never[]) : client.readResponse((await response.json()) as never);
}

/** The frames of a stream of server-sent events, without an end mark that is not JSON. */
export function readFrames(stream: string): unknown[] {
  const frames: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => frames.push(event) }).feed(stream);
  return frames.filter(({ data }) => data !== "[DONE]").map(({ data }) => JSON.parse(data));
}
