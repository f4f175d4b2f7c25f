import { stringifyWellFormed } from "#contract";

/** Maximum size of one recorded content, in UTF-8. */
const MAX_CONTENT_BYTES = 8 * 1024;

/** Cuts a text at the limit of a recorded content. */
export function cutContent(text: string): string {
  const bytes = Buffer.from(text.slice(0, MAX_CONTENT_BYTES));
  return bytes.length <= MAX_CONTENT_BYTES ? bytes.toString() : bytes.toString("utf8", 0, findCharacterEnd(bytes, MAX_CONTENT_BYTES));
}

/** Returns one message in the form of the conventions, as JSON that fits the limit. */
export function formatMessage(role: "user" | "assistant", text: string): string {
  let content = cutContent(text);
  let json = toMessageJson(role, content);
  // Escapes make the JSON longer than the text.
  for (let left = content.length; Buffer.byteLength(json) > MAX_CONTENT_BYTES; json = toMessageJson(role, content)) {
    left = Math.floor(left * 0.9);
    content = content.slice(0, left);
  }
  return json;
}

const toMessageJson = (role: string, content: string): string => stringifyWellFormed([{ role, parts: [{ type: "text", content }] }]);

/** Returns the last position up to `limit` that does not split a character. */
function findCharacterEnd(bytes: Buffer, limit: number): number {
  let end = limit;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return end;
}
