/**
 * Returns a text that every storage engine can store in a column. PostgreSQL rejects U+0000, so it is replaced by U+FFFD, as unpaired
 * surrogates are. Use it for texts of adapters and clients that are not stored as JSON, where U+0000 is an escape sequence.
 */
export const toColumnText = (text: string): string => (text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text);
