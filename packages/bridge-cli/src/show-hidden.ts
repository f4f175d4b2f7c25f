/**
 * Makes the control characters of a text visible. Agents write titles and outputs, and their control characters could change what a
 * terminal shows or does.
 */
export function showHidden(text: string): string {
  return text.replaceAll(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** Returns a text in one line, without control characters. */
export function toOneLine(text: string): string {
  return showHidden(text.replaceAll(/\s+/g, " ").trim());
}

/** Characters of the categories control, format, and line and paragraph separator, except line breaks and tabs. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
