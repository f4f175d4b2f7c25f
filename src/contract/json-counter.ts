/**
 * Maximum JSON values (members and elements, nested ones included) in one message of a program or an MCP server. Parsing and storing a
 * value takes up to 6 µs of CPU time and 190 bytes of memory, many times the length of its text.
 */
export const MAX_MESSAGE_VALUES = 50_000;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;

/**
 * Creates a counter of the values in JSON that arrives in chunks, before it is parsed. It counts commas and opening brackets outside of
 * strings, so the result is a little higher than the number of values. JSON strings contain no line breaks, so a line break ends a string:
 * a stray quote in the text around the JSON cannot hide values. With `byEvent`, a blank line sets the count to zero, as it ends a
 * server-sent event.
 */
export function createJsonCounter({ byEvent = false }: { byEvent?: boolean } = {}) {
  let total = 0;
  /** The total when the current event began. */
  let before = 0;
  let isInString = false;
  let isEscaped = false;
  let isLineEmpty = true;
  let wasCarriageReturn = false;

  function endLine(byte: number): void {
    isInString = false;
    isEscaped = false;
    const isSecondHalf = byte === NEWLINE && wasCarriageReturn;
    if (byEvent && isLineEmpty && !isSecondHalf) before = total;
    isLineEmpty = true;
    wasCarriageReturn = byte === CARRIAGE_RETURN;
  }

  return {
    /** All values, of all events. */
    get total() {
      return total;
    },
    /** Adds bytes, and returns the largest count that was reached in them. */
    add(bytes: Uint8Array): number {
      let largest = total - before;
      for (let index = 0; index < bytes.length; index += 1) {
        const byte = bytes[index] as number;
        if (byte === NEWLINE || byte === CARRIAGE_RETURN) {
          endLine(byte);
          continue;
        }
        isLineEmpty = false;
        wasCarriageReturn = false;
        if (isInString) {
          if (isEscaped) isEscaped = false;
          else if (byte === BACKSLASH) isEscaped = true;
          else if (byte === QUOTE) isInString = false;
        } else if (byte === QUOTE) isInString = true;
        else if (byte === COMMA || byte === OPENING_BRACKET || byte === OPENING_BRACE) {
          total += 1;
          if (total - before > largest) largest = total - before;
        }
      }
      return largest;
    },
  };
}
