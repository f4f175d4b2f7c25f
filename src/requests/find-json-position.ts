/**
 * Returns the position in an error of `JSON.parse`, such as " at position 9 (line 2 column 3)"; empty if it has none. The rest of the
 * message quotes the text, which can contain secrets.
 */
export const findJsonPosition = ({ message }: Error): string => / at position \d+( \(line \d+ column \d+\))?$/.exec(message)?.[0] ?? "";
