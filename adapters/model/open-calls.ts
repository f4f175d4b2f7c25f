import type { ModelMessage, ToolModelMessage } from "ai";
import { ModelFailure } from "./model-failure.ts";

/** A call of a tool that the dispatch has declared: whoever dispatched works it, and the next message has the result. */
export interface OpenCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** The calls of a conversation that have no result yet. */
export function openCallsOf(messages: readonly ModelMessage[]): OpenCall[] {
  const answered = new Set(
    messages.flatMap(({ role, content }) =>
      role === "tool" ? content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])) : [],
    ),
  );
  return messages.flatMap(({ role, content }) => {
    if (role !== "assistant" || typeof content === "string") return [];
    return content.flatMap((part) =>
      part.type === "tool-call" && part.providerExecuted !== true && !answered.has(part.toolCallId)
        ? [{ toolCallId: part.toolCallId, toolName: part.toolName, input: part.input }]
        : [],
    );
  });
}

/**
 * Puts a message behind a conversation. Where calls are open it must answer them, because no vendor takes a call without its result: by a
 * JSON object of results by `toolCallId`, what follows that being a message again; or, to a single call, by being the result itself.
 */
export function continueWith(messages: readonly ModelMessage[], message: string): ModelMessage[] {
  const open = openCallsOf(messages);
  if (open.length === 0) return [...messages, { role: "user", content: message }];
  const { object, rest } = splitObject(message);
  const ids = open.map(({ toolCallId }) => toolCallId);
  if (object !== null && ids.every((id) => Object.hasOwn(object, id))) {
    const strangers = Object.keys(object).filter((key) => !ids.includes(key));
    if (strangers.length > 0)
      throw new ModelFailure("adapter_error", `The message has results of calls that nobody has made: ${named(strangers)}.`);
    const answered = [...messages, resultsOf(open.map((call) => [call, object[call.toolCallId]]))];
    return rest === "" ? answered : [...answered, { role: "user", content: rest }];
  }
  const [only, ...others] = open;
  if (only !== undefined && others.length === 0) return [...messages, resultsOf([[only, message]])];
  throw new ModelFailure(
    "adapter_error",
    `The conversation waits for the results of ${open.length} tool calls. Begin the message with a JSON object that has each of them under its toolCallId: ${named(ids)}.`,
  );
}

function resultsOf(results: readonly (readonly [OpenCall, unknown])[]): ToolModelMessage {
  return {
    role: "tool",
    content: results.map(([{ toolCallId, toolName }, value]) => ({
      type: "tool-result",
      toolCallId,
      toolName,
      output: { type: "text", value: typeof value === "string" ? value : JSON.stringify(value) },
    })),
  };
}

/** The JSON object that a text begins with, and what follows it; Bridge may have put instructions behind a message. */
function splitObject(text: string): { object: Record<string, unknown> | null; rest: string } {
  const none = { object: null, rest: text };
  const start = text.search(/\S/);
  if (text[start] !== "{") return none;
  const end = endOfObject(text, start);
  try {
    return { object: JSON.parse(text.slice(start, end)) as Record<string, unknown>, rest: text.slice(end).trim() };
  } catch {
    return none;
  }
}

/** Where the bracket at `start` is closed; 0 when nowhere. In one pass: a text may be long and full of brackets. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === '"') inString = !inString;
    else if (!inString && character === "{") depth += 1;
    else if (!inString && character === "}") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return 0;
}

const named = (ids: readonly string[]): string =>
  ids
    .slice(0, 20)
    .map((id) => id.slice(0, 100))
    .join(", ");
