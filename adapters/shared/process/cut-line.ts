import { parseExactJson } from "#contract";
import { PROCESS_LIMITS } from "./run-process.ts";

/** The end of a string that was cut. */
export const CUT_MARK = ` … [cut by Bridge, because the line has more than ${PROCESS_LIMITS.lineBytes / 1024 ** 2} MiB]`;

/** Parses the beginning of a line of JSON: a string that is cut ends with `CUT_MARK`. Null if the rest cannot be completed to an object. */
export function parseCutLine(beginning: string): Record<string, unknown> | null {
  const closers: string[] = [];
  let isInString = false;
  let escapeAt = -1;
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
  }
  // Outside a string, the cut may follow a name, a colon or a comma, for which no value can be made up.
  if (!isInString || closers[0] !== "}") return null;
  // The longest escape, such as \u00e9, has six characters. Without a cut escape, this removes a whole one at most.
  const end = escapeAt > beginning.length - 6 ? escapeAt : beginning.length;
  try {
    return parseExactJson(`${beginning.slice(0, end)}${CUT_MARK}"${closers.toReversed().join("")}`) as Record<string, unknown>;
  } catch {
    return null;
  }
}
