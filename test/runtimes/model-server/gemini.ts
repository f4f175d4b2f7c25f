import { randomUUID } from "node:crypto";
import type { Answer, Conversation, Frame, ModelRequest, Protocol, Runtime, Turn, Usage } from "./conversation.ts";
import { isOwnText, recogniseRuntime } from "./runtimes.ts";

interface Part {
  text?: string;
  thought?: boolean;
  functionResponse?: object;
}

interface Content {
  role?: string;
  parts?: Part[];
}

interface Body {
  contents: Content[];
  systemInstruction?: Content;
  tools?: { functionDeclarations?: { name: string }[] }[];
}

/** Gemini's generateContent, with and without streaming. */
export const gemini: Protocol = {
  answers: ({ method, path }) => method === "POST" && /enerateContent$/.test(parsePath(path)?.method ?? ""),
  read: readRequest,
  stream: streamAnswer,
  whole: (answer) => chunk(answer, [...thoughts(answer), ...answer.deltas.map((text) => ({ text })), ...functionCalls(answer)], true),
  errorBody(status) {
    const states: Record<number, string> = {
      400: "INVALID_ARGUMENT",
      401: "UNAUTHENTICATED",
      403: "PERMISSION_DENIED",
      404: "NOT_FOUND",
      429: "RESOURCE_EXHAUSTED",
      500: "INTERNAL",
      503: "UNAVAILABLE",
    };
    return { error: { code: status, message: `Scripted error ${status}`, status: states[status] ?? "UNKNOWN" } };
  },
  other: ({ path }) => (parsePath(path)?.method === "countTokens" ? { totalTokens: 130 } : undefined),
};

function parsePath(path: string): { model: string; method: string } | null {
  const [, model, method] = /^\/v1(?:beta|alpha)?\/models\/([^:?]+):(\w+)/.exec(path) ?? [];
  return model === undefined || method === undefined ? null : { model, method };
}

function readRequest({ path, body, headers }: ModelRequest): Conversation {
  const { contents, systemInstruction = {}, tools = [] } = body as Body;
  const { model = "", method } = parsePath(path) ?? {};
  const runtime = recogniseRuntime(headers["user-agent"], "gemini");
  return {
    runtime,
    model,
    system: textsOf(systemInstruction).join("\n"),
    turns: contents.flatMap((content) => readContent(content, runtime)),
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => ({ name }))),
    stream: method === "streamGenerateContent",
  };
}

function readContent(content: Content, runtime: Runtime): Turn[] {
  if (content.role === "model") return [{ role: "assistant" }];
  const texts = textsOf(content).filter((text) => !isOwnText(runtime, text));
  return [
    ...(content.parts?.some(({ functionResponse }) => functionResponse !== undefined) ? [{ role: "tool" } as const] : []),
    ...(texts.length > 0 ? [{ role: "user", text: texts.join("\n") } as const] : []),
  ];
}

function textsOf({ parts = [] }: Content): string[] {
  return parts.flatMap(({ text, thought }) => (text === undefined || thought ? [] : [text]));
}

function* streamAnswer(answer: Answer): Iterable<Frame> {
  for (const part of thoughts(answer)) yield frame(chunk(answer, [part], false));
  // A refusal withholds the text.
  if (answer.finish !== "refusal") for (const text of answer.deltas) yield frame(chunk(answer, [{ text }], false));
  // Gemini sends a call in one piece, so an interrupted stream contains no part of it.
  if (answer.stops !== undefined) return;
  yield frame(chunk(answer, answer.calls.length > 0 ? functionCalls(answer) : [{ text: "" }], true));
}

/** The client of the vendor treats these two separators as line endings unless they are escaped. */
function frame(data: object): Frame {
  return { data: JSON.stringify(data).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029") };
}

function chunk({ model, usage: counted, finish }: Answer, parts: object[], last: boolean) {
  const finishReason = finish === undefined ? "STOP" : finish === "length" ? "MAX_TOKENS" : "SAFETY";
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...(last ? { finishReason } : {}) }],
    ...(last ? { usageMetadata: usage(counted) } : {}),
    modelVersion: model,
    responseId: randomUUID(),
  };
}

function thoughts({ thought }: Answer) {
  return thought === "" ? [] : [{ text: thought, thought: true }];
}

function functionCalls({ calls }: Answer) {
  return calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }));
}

/** Gemini counts thinking tokens separately from the answer. */
function usage({ prompt, cached, answer, thinking }: Usage) {
  return {
    promptTokenCount: prompt,
    cachedContentTokenCount: cached,
    candidatesTokenCount: answer,
    thoughtsTokenCount: thinking,
    totalTokenCount: prompt + answer + thinking,
  };
}
