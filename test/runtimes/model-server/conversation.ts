import type { IncomingHttpHeaders } from "node:http";

/** The programs that call this model. */
export type Runtime = "claude" | "codex" | "gemini" | "opencode" | "openclaw" | "qwen";

/** One request as it was received. */
export interface ModelRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** The parsed JSON; null if the request has none. */
  body: unknown;
  /** Time of the request on the clock of the process, in milliseconds. */
  at: number;
}

export type Turn = { role: "user"; text: string } | { role: "assistant" } | { role: "tool" };

/** The content of a request in any protocol. The turns omit text that the runtime adds to user messages. */
export interface Conversation {
  runtime: Runtime;
  model: string;
  system: string;
  turns: Turn[];
  tools: OfferedTool[];
  stream: boolean;
}

/** A tool that the request offers. `namespace` is set if the protocol groups tools. */
export interface OfferedTool {
  name: string;
  namespace?: string;
}

/** A call of a tool of the runtime. A text as input creates a free-form call if the protocol supports it. */
export interface Call {
  id: string;
  name: string;
  namespace?: string;
  input: Record<string, unknown> | string;
}

/** The answer of the model, in a form that is independent of the protocol. */
export interface Answer {
  model: string;
  /** The thought before the answer; empty if there is none. */
  thought: string;
  /** The text, divided into its deltas. */
  deltas: string[];
  calls: Call[];
  usage: Usage;
  /** The reason why the answer is incomplete; absent if it is complete. */
  finish?: "length" | "refusal";
  /** After the text, or in the middle of the first call, the stream hangs or its connection is reset. */
  stops?: { in: "text" | "call"; by: "hanging" | "breaking" | "an error" };
}

/** Tokens of one call. `prompt` includes the cached tokens, `answer` the thinking tokens. */
export interface Usage {
  prompt: number;
  cached: number;
  answer: number;
  thinking: number;
}

/** One frame of a stream of server-sent events. */
export interface Frame {
  event?: string;
  data: unknown;
}

/** A vendor's wire protocol. */
export interface Protocol {
  /** Whether the request asks the model for an answer. */
  answers(request: ModelRequest): boolean;
  read(request: ModelRequest): Conversation;
  stream(answer: Answer): Iterable<Frame>;
  whole(answer: Answer): unknown;
  errorBody(status: number): unknown;
  /** The response to another request of the protocol, if it has one. */
  other?(request: ModelRequest): unknown;
}

/** Returns the index of the user's last message, or -1 if there is none. */
export function lastUserIndex(turns: readonly Turn[]): number {
  return turns.findLastIndex(({ role }) => role === "user");
}

/** Divides a text into at most this number of pieces, never inside a character. */
export function cutText(text: string, pieces: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / pieces));
  const cut: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + size);
    if (isInsidePair(text, end)) end += 1;
    cut.push(text.slice(start, end));
    start = end;
  }
  return cut;
}

function isInsidePair(text: string, at: number): boolean {
  return at > 0 && at < text.length && /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1));
}

/** Returns the first part of a text that is cut off. */
export const firstHalf = (text: string): string => text.slice(0, Math.ceil(text.length / 2));
