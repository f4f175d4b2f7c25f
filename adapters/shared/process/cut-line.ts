import { MAX_MESSAGE_VALUES, parseExactJson } from "#contract";
import { PROCESS_LIMITS } from "./run-process.ts";

/** The end of a string that was cut, and the last value of a list or an object that was cut between two values. */
export const CUT_MARK = ` … [cut by Bridge, because the line has more than ${PROCESS_LIMITS.lineBytes / 1024 ** 2} MiB or ${MAX_MESSAGE_VALUES} values]`;

/**
 * Parses the beginning of a line of JSON: a string that is cut ends with `CUT_MARK`. A cut outside of a string value moves back to the last
 * comma, where `CUT_MARK` is the last value. Null if the rest cannot be completed to an object.
 */
export function parseCutLine(beginning: string): Record<string, unknown> | null {
  const { isInString, escapeAt, commaAt } = scan(beginning);
  // The longest escape, such as \u00e9, has six characters. Without a cut escape, this removes a whole one at most.
  const end = escapeAt > beginning.length - 6 ? escapeAt : beginning.length;
  const cut = isInString ? complete(beginning.slice(0, end), `${CUT_MARK}"`) : null;
  if (cut !== null || commaAt === -1) return cut;
  const { closers } = scan(beginning.slice(0, commaAt));
  return complete(beginning.slice(0, commaAt), closers.at(-1) === "]" ? `,"${CUT_MARK}"` : `,"…":"${CUT_MARK}"`, closers);
}

/** Returns the open containers of the beginning of a JSON text, and where its last escape and its last comma outside of strings are. */
function scan(beginning: string) {
  const closers: string[] = [];
  let isInString = false;
  let [escapeAt, commaAt] = [-1, -1];
  for (let index = 0; index < beginning.length; index += 1) {
    const character = beginning[index];
    if (isInString) {
      if (character === "\\") {
        escapeAt = index;
        index += 1;
      } else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{") closers.push("}");
    else if (character === "[") closers.push("]");
    else if (character === "}" || character === "]") closers.pop();
    else if (character === ",") commaAt = index;
  }
  return { closers, isInString, escapeAt, commaAt };
}

function complete(text: string, end: string, closers = scan(text).closers): Record<string, unknown> | null {
  if (closers[0] !== "}") return null;
  try {
    return parseExactJson(text + end + closers.toReversed().join("")) as Record<string, unknown>;
  } catch {
    return null;
  }
}
