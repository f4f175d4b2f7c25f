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

/** Returns a text, such as the name of a file, in one line, with all of its characters visible. */
export const showName = (name: string): string => showHidden(name).replaceAll("\n", "␊").replaceAll("\t", "␉");

/** Writes the hidden characters of JSON text as escape sequences, so that it has the same value and a terminal shows all of it. */
export const escapeHidden = (json: string): string =>
  json.replaceAll(HIDDEN, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`).join(""),
  );

/**
 * Characters of the categories control, format, and line and paragraph separator, and others that show nothing, except line breaks, tabs
 * and the variation selector of emoji.
 */
const HIDDEN = /(?!\n|\t|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
