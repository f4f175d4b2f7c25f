import { stringifyWellFormed } from "#contract";
import { findCut } from "./json-literal.ts";

/** Maximum size of a stored text delta as JSON. */
export const MAX_TEXT_BYTES = 64 * 1024;

/** Encodes a text delta as the JSON of one or more events. Their contents joined are the text. */
export function encodeTextDelta(content: string): string[] {
  const json = stringifyWellFormed(content);
  const end = json.length - 1;
  const pieces: string[] = [];
  for (let start = 1; start < end; ) {
    const cut = (end - start) * 3 <= MAX_TEXT_BYTES ? end : Math.min(end, findCut(json, start, MAX_TEXT_BYTES));
    pieces.push(`{"content":"${json.slice(start, cut)}"}`);
    start = cut;
  }
  return pieces;
}
