import { isUtf8 } from "node:buffer";
import { createJsonCounter, MAX_MESSAGE_VALUES } from "#contract";
import { startsObject } from "./parse-json-line.ts";

const NEWLINE = 0x0a;

/** Receives one line. `ended` is false for a last line without a newline. */
export type LineListener = (line: string, ended: boolean) => void;

/** How bytes become text. `latin1` makes one character of each byte, for output whose exact bytes are needed. */
export type LineEncoding = "utf8" | "latin1";

/** Receives the beginning of a line over a limit. Returns true if the rest of the line is to be skipped. */
export type LongLineListener = (beginning: string) => boolean;

/** How much of a line over a limit its listener receives. */
const LINE_BEGINNING_BYTES = 512 * 1024;
/** The values of a shorter line are not counted: there are too few to block the event loop. */
const COUNTED_LINE_BYTES = 256 * 1024;

/** Options of a line splitter. */
export interface LineOptions {
  /** Default: `utf8`. */
  encoding?: LineEncoding | undefined;
  /** Default: no line over the limit is skipped. */
  onLongLine?: LongLineListener | undefined;
  /** Called once, before the first line with bytes that are not UTF-8. */
  onInvalidText?: (() => void) | undefined;
}

/**
 * Splits a stream of bytes into lines of text. It decodes whole lines only, so no character is split; in UTF-8, invalid
 * bytes become U+FFFD. Lines within one chunk are decoded together, so that many short lines cost about as much as one long
 * line.
 */
export function createLineSplitter(
  maxLineBytes: number,
  onLine: LineListener,
  { encoding = "utf8", onLongLine = () => false, onInvalidText }: LineOptions = {},
) {
  let parts: Uint8Array[] = [];
  let size = 0;
  let tooLong = false;
  let isSkipping = false;
  let isReported = onInvalidText === undefined || encoding !== "utf8";

  const decode = (bytes: Buffer): string => {
    const text = bytes.toString(encoding);
    if (!isReported && text.includes("\ufffd") && !isUtf8(bytes)) {
      isReported = true;
      onInvalidText?.();
    }
    return text;
  };

  const append = (part: Uint8Array): boolean => {
    if (isSkipping) return true;
    size += part.length;
    if (part.length > 0) parts.push(part);
    if (size <= maxLineBytes) return true;
    isSkipping = passBeginning(Buffer.concat(parts));
    [parts, size] = [[], 0];
    return isSkipping;
  };

  /** Passes on the beginning of a line over a limit. Returns whether the rest of the line is to be skipped. */
  const passBeginning = (line: Buffer): boolean => {
    // In stream mode, the decoder drops a character that is cut in two.
    tooLong = !onLongLine(new TextDecoder().decode(line.subarray(0, LINE_BEGINNING_BYTES), { stream: true }));
    return !tooLong;
  };

  const flush = (ended: boolean): void => {
    if (isSkipping) {
      isSkipping = false;
      return;
    }
    const bytes = Buffer.concat(parts, size);
    parts = [];
    size = 0;
    const line = decode(bytes);
    if (encoding === "utf8" && hasTooManyValues(bytes, line)) passBeginning(bytes);
    else onLine(line, ended);
  };

  /** Emits the lines of a piece that ends with a newline and has no line over the limit. */
  const flushAll = (lines: Uint8Array): void => {
    const text = decode(Buffer.from(lines.buffer, lines.byteOffset, lines.length));
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf("\n", start);
      onLine(text.slice(start, end), true);
      start = end + 1;
    }
  };

  return {
    /** Adds bytes. Returns false once a line exceeds the limit and is not skipped. */
    push(chunk: Uint8Array): boolean {
      let start = 0;
      while (!tooLong) {
        const end = chunk.indexOf(NEWLINE, start);
        if (!append(chunk.subarray(start, end === -1 ? undefined : end))) break;
        if (end === -1) break;
        flush(true);
        start = end + 1;
        const rest = chunk.lastIndexOf(NEWLINE) + 1;
        if (rest - start > Math.min(maxLineBytes, COUNTED_LINE_BYTES)) continue;
        flushAll(chunk.subarray(start, rest));
        start = rest;
      }
      return !tooLong;
    },
    /** Ends the stream: the remaining bytes are the last line. */
    end(): void {
      if (!tooLong && size > 0) flush(false);
    },
  };
}

/** Whether a line is a JSON object that would block the event loop while it is parsed. */
const hasTooManyValues = (bytes: Buffer, line: string): boolean =>
  bytes.length > COUNTED_LINE_BYTES && startsObject(line) && createJsonCounter().add(bytes) > MAX_MESSAGE_VALUES;
