import { findCut } from "./json-literal.ts";

/** A stored text delta takes at most this, in bytes of JSON. */
export const MAX_TEXT_BYTES = 64 * 1024;

/** Makes the stored JSON of a text delta, in as many pieces as it needs: their contents add up to the text, always. */
export function encodeTextDelta(content: string): string[] {
  const json = JSON.stringify(content);
  const end = json.length - 1;
  const pieces: string[] = [];
  for (let start = 1; start < end; ) {
    const cut = (end - start) * 3 <= MAX_TEXT_BYTES ? end : Math.min(end, findCut(json, start, MAX_TEXT_BYTES));
    pieces.push(`{"content":"${json.slice(start, cut)}"}`);
    start = cut;
  }
  return pieces;
}
