/** Removes the byte order mark that some programs write at the beginning of a text. */
export const withoutByteOrderMark = (text: string): string => (text.startsWith("\uFEFF") ? text.slice(1) : text);
