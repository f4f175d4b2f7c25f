import { parseExactJson } from "#contract";

/** What programs print around a line of JSON: a byte order mark, blanks, and escape sequences that set colors. */
const frame = String.raw`(?:\s|\x1b\[[\d;?]*[A-Za-z])*`;
const opening = new RegExp(`^${frame}(?=\\{)`);
const closing = new RegExp(`^${frame}$`);

/**
 * Parses the JSON object on a line of a program's output; null if there is none. Accepts a byte order mark, blanks and escape sequences
 * of a terminal around it. Numbers that a double cannot hold keep their digits.
 */
export function parseJsonLine(line: string): Record<string, unknown> | null {
  const start = line.startsWith("{") ? 0 : opening.exec(line)?.[0].length;
  if (start === undefined) return null;
  // A failed parse takes a hundred times as long as this check.
  const end = line.lastIndexOf("}") + 1;
  if (end === 0 || !closing.test(line.slice(end))) return null;
  const { stackTraceLimit } = Error;
  // Collecting the unused stack takes most of the time of a failed parse.
  Error.stackTraceLimit = 0;
  try {
    return parseExactJson(line.slice(start, end)) as Record<string, unknown>;
  } catch {
    return null;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
