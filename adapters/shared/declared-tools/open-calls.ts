import { parseExactJson } from "#contract";

/** A call of a declared tool. The caller executes it, and the next message contains the result. */
export interface OpenCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** The results of all open calls, in the order of the calls, and the rest of the message that contained them. */
export interface MatchedResults {
  results: (readonly [call: OpenCall, result: unknown])[];
  rest: string;
}

/**
 * Reads the results of open calls from the next message: a JSON object that maps each `toolCallId` to its result,
 * optionally followed by a message; or, if only one call is open, the result itself. Returns a fault for the caller if
 * the message has neither form.
 */
export function matchResults(open: readonly OpenCall[], message: string): MatchedResults | { fault: string } {
  const { object, rest } = splitObject(message);
  const ids = open.map(({ toolCallId }) => toolCallId);
  if (object !== null && ids.every((id) => Object.hasOwn(object, id))) {
    const known = new Set(ids);
    const unknownIds = Object.keys(object).filter((key) => !known.has(key));
    if (unknownIds.length > 0)
      return { fault: `The message has results for unknown calls: ${formatIds(unknownIds)}. The waiting calls are: ${formatIds(ids)}.` };
    return { results: open.map((call) => [call, object[call.toolCallId]]), rest };
  }
  const [onlyCall, ...others] = open;
  if (onlyCall !== undefined && others.length === 0) return { results: [[onlyCall, message]], rest: "" };
  return {
    fault: `The conversation waits for the results of ${open.length} tool calls. Begin the message with a JSON object that maps each toolCallId to its result: ${formatIds(ids)}.`,
  };
}

/** Converts a result to text for a model. */
export const formatResult = (result: unknown): string => (typeof result === "string" ? result : JSON.stringify(result));

/** Splits a text into the JSON object that it begins with and the rest. Bridge may have appended instructions to the message. */
function splitObject(text: string): { object: Record<string, unknown> | null; rest: string } {
  const none = { object: null, rest: text };
  const start = text.search(/\S/);
  if (text[start] !== "{") return none;
  const end = endOfObject(text, start);
  try {
    return { object: parseExactJson(text.slice(start, end)) as Record<string, unknown>, rest: text.slice(end).trim() };
  } catch {
    return none;
  }
}

/**
 * Returns the index after the bracket that closes the one at `start`, or 0 if there is none. Reads the text only once, because it
 * can be long and full of brackets.
 */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (character === "\\") index += 1;
    else if (character === '"') inString = !inString;
    else if (!inString && character === "{") depth += 1;
    else if (!inString && character === "}") depth -= 1;
    if (depth === 0) return index + 1;
  }
  return 0;
}

const formatIds = (ids: readonly string[]): string =>
  ids
    .slice(0, 20)
    .map((id) => id.slice(0, 100))
    .join(", ");
