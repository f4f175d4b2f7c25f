const newline = 0x0a;

/** Receives one line. `ended` is false for a last line that came without its newline. */
export type LineListener = (line: string, ended: boolean) => void;

export interface LineSplitter {
  /** Takes the next bytes; false when the line has grown over its limit, and from then on. */
  push(chunk: Uint8Array): boolean;
  /** The stream is over: what is left counts as a line. */
  end(): void;
}

/**
 * Splits a stream of bytes into lines of text, wherever its chunks are cut.
 * It decodes whole lines only, so no character is split; invalid UTF-8 becomes U+FFFD. Lines that end in one chunk are decoded together:
 * a chunk of very short lines costs about as much as one long line.
 */
export function createLineSplitter(maxLineBytes: number, onLine: LineListener): LineSplitter {
  let parts: Uint8Array[] = [];
  let size = 0;
  let tooLong = false;

  const take = (part: Uint8Array): boolean => {
    size += part.length;
    if (size > maxLineBytes) {
      tooLong = true;
      parts = [];
    } else if (part.length > 0) {
      parts.push(part);
    }
    return !tooLong;
  };

  const flush = (ended: boolean): void => {
    const line = Buffer.concat(parts, size).toString("utf8");
    parts = [];
    size = 0;
    onLine(line, ended);
  };

  /** Lines that begin and end in one piece of bytes, which ends with a newline and holds no line over the limit. */
  const flushAll = (lines: Uint8Array): void => {
    const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString("utf8");
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf("\n", start);
      onLine(text.slice(start, end), true);
      start = end + 1;
    }
  };

  return {
    push(chunk) {
      let start = 0;
      while (!tooLong) {
        const end = chunk.indexOf(newline, start);
        if (!take(chunk.subarray(start, end === -1 ? undefined : end))) break;
        if (end === -1) break;
        flush(true);
        start = end + 1;
        const rest = chunk.lastIndexOf(newline) + 1;
        if (rest - start > maxLineBytes) continue;
        flushAll(chunk.subarray(start, rest));
        start = rest;
      }
      return !tooLong;
    },
    end() {
      if (!tooLong && size > 0) flush(false);
    },
  };
}
