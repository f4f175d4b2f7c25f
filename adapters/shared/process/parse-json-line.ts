import { parseExactJson } from "#contract";

/**
 * Matches what programs print around a line of JSON: a byte order mark, blanks, and escape sequences that set colors. It matches a limited
 * number of them at a time, because the regular expression would overflow the stack on millions.
 */
const MAX_PARTS = 1000;
const framePart = new RegExp(String.raw`(?:\s|\x1b\[[\d;?]*[A-Za-z]){1,${MAX_PARTS}}`, "y");

/** Returns the index after the blanks and escape sequences that begin at `start`. */
function skipFrame(line: string, start: number): number {
  let end = start;
  for (framePart.lastIndex = end; framePart.test(line); end = framePart.lastIndex);
  return end;
}

/** Whether a line begins like a JSON object. */
export const startsObject = (line: string): boolean => line[skipFrame(line, 0)] === "{";

/**
 * Parses the JSON object on a line of a program's output; null if there is none. Accepts a byte order mark, blanks and escape sequences
 * of a terminal around it. Numbers that a double cannot hold keep their digits.
 */
export function parseJsonLine(line: string): Record<string, unknown> | null {
  const start = skipFrame(line, 0);
  if (line[start] !== "{") return null;
  // A failed parse takes a hundred times as long as this check.
  const end = line.lastIndexOf("}") + 1;
  if (end === 0 || skipFrame(line, end) < line.length) return null;
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
