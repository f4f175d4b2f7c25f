/**
 * NUL and all control characters, for the character class of a pattern. The API description contains the patterns, so they are portable:
 * `\p{Cc}` needs a flag in JavaScript and is invalid in Python, and Java parses `\0` as the start of an octal number.
 */
export const NUL = "\\x00";
export const CONTROL_CHARACTERS = "\\x00-\\x1f\\x7f-\\x9f";

/** Matches texts without control characters. */
export const noControlCharacters = new RegExp(`^[^${CONTROL_CHARACTERS}]*$`);
