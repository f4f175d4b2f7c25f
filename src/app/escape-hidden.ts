/**
 * Writes characters as JSON escapes that a terminal would execute or hide, such as those of programs that failed. JSON itself requires
 * this only for the first 32 characters. The value of a line of JSON is the same.
 */
export const escapeHidden = (line: string): string =>
  line.replaceAll(HIDDEN, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`).join(""),
  );

/**
 * Characters of the categories control, format, and line and paragraph separator, and others that show nothing, except the newline after
 * each line and the variation selector of emoji.
 */
const HIDDEN = /(?!\n|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
