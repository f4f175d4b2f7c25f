/** Characters that add no column: they combine with the one before. */
const COMBINING = /[\p{Mn}\p{Me}]/u;
/** Characters that can take two columns. A variation selector for emoji can widen the character before it, so it counts itself. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Emoji_Presentation}\u2e80-\u303e\u3190-\u33ff\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const EMOJI_SELECTOR = "\ufe0f";

/**
 * Returns the maximum number of columns that a one-line text takes on a terminal. A text that is cut to a number of characters could be
 * wider than the line, and its rest on the next line could look like another event or task.
 */
export function measureWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** Cuts a text to a number of columns. A text that is cut ends with an ellipsis. */
export function cutToWidth(text: string, columns: number): string {
  // No character of printable ASCII is wide.
  if (text.length <= columns && /^[ -~]*$/.test(text)) return text;
  let width = 0;
  let kept = 0;
  for (let index = 0; index < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(index) ?? 0);
    width += widthOf(character);
    index += character.length;
    if (width > columns) return `${text.slice(0, kept)}…`;
    if (width <= columns - 1) kept = index;
  }
  return text;
}

function widthOf(character: string): number {
  if (character <= "~") return 1;
  if (character === EMOJI_SELECTOR) return 1;
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
