import type { IncomingHttpHeaders } from "node:http";

/** The programs that ask this model. */
export type Runtime = "claude" | "codex" | "gemini" | "opencode" | "openclaw" | "qwen";

/** One request as it was received. */
export interface ModelRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** Parsed JSON; null when there is none. */
  body: unknown;
  /** By the clock of the process, in milliseconds. */
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

/** A tool that the request offers; `namespace` where the protocol groups them. */
export interface OfferedTool {
  name: string;
  namespace?: string;
}

/** A tool call in the words of the runtime that is asked; a text as input makes a free-form call where the protocol has them. */
export interface Call {
  id: string;
  name: string;
  namespace?: string;
  input: Record<string, unknown> | string;
}

/** What the model answers, whatever the protocol. */
export interface Answer {
  model: string;
  /** The thought before the answer; empty for none. */
  thought: string;
  /** The text, cut into its deltas. */
  deltas: string[];
  calls: Call[];
  usage: Usage;
  /** Why it is not a whole answer; absent where it is one. */
  finish?: "length" | "refusal";
  /** After the text, or in the middle of the first call, nothing more comes: it hangs, or the connection breaks. */
  stops?: { in: "text" | "call"; by: "hanging" | "breaking" };
}

/** Tokens of one call: `prompt` holds the cached ones, `answer` the thinking. */
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
  /** True for the requests that ask for an answer of the model. */
  answers(request: ModelRequest): boolean;
  read(request: ModelRequest): Conversation;
  stream(answer: Answer): Iterable<Frame>;
  whole(answer: Answer): unknown;
  errorBody(status: number): unknown;
  /** The answer to another request of the protocol, if it is one. */
  other?(request: ModelRequest): unknown;
}

/** Where the user's last message is; -1 without one. */
export function lastUserIndex(turns: readonly Turn[]): number {
  return turns.findLastIndex(({ role }) => role === "user");
}

/** Cuts a text into so many pieces at most, never inside a character. */
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

/** The beginning of a text that breaks off. */
export const firstHalf = (text: string): string => text.slice(0, Math.ceil(text.length / 2));
