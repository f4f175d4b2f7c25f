/**
 * NUL, and all control characters, for a character class of a pattern. The description of the API repeats the patterns, so they are written for other
 * languages too: `\p{Cc}` needs a flag in JavaScript and is unknown to Python, and Java reads `\0` as the start of an octal number.
 */
export const NUL = "\\x00";
export const CONTROL_CHARACTERS = "\\x00-\\x1f\\x7f-\\x9f";

/** A text without control characters. */
export const noControlCharacters = new RegExp(`^[^${CONTROL_CHARACTERS}]*$`);
