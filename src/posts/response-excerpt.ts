import { withTimeout } from "@hak2i/async-kit";
import type { ResponseExcerpt } from "../store/posts/interface.ts";

/** Bytes of a response body that an excerpt contains. */
export const EXCERPT_BYTES = 1024;
/** Maximum time after the head of a response for which its excerpt waits, in ms. Most responses arrive in one packet. */
const WAIT_MS = 250;

export type ExcerptReader = ReturnType<typeof createExcerptReader>;

/** Creates a reader of the beginning of a response body. It holds at most `EXCERPT_BYTES`, whatever the response contains. */
export function createExcerptReader() {
  const { promise: filled, resolve: onFilled } = Promise.withResolvers<void>();
  let held: Buffer | undefined;
  let length = 0;
  let isFilled = false;
  let isWhole = false;

  function fill(): void {
    isFilled = true;
    onFilled();
  }

  return {
    /** Adds a part of the body. Copies what it keeps, because the part belongs to the buffer of a socket. */
    add(part: Uint8Array): void {
      if (isFilled) return;
      const kept = part.subarray(0, EXCERPT_BYTES - length);
      held ??= Buffer.alloc(EXCERPT_BYTES);
      held.set(kept, length);
      length += kept.length;
      if (kept.length < part.length) fill();
    },
    /** The response has ended; `isComplete` is false if it was aborted. */
    end(isComplete: boolean): void {
      if (isFilled) return;
      isWhole = isComplete;
      fill();
    },
    /** Resolves when the excerpt is filled, but at most after a short time, so that no receiver delays the result of its attempt. */
    async read(): Promise<ResponseExcerpt> {
      if (!isFilled) await withTimeout(filled, WAIT_MS, () => {});
      isFilled = true;
      const text = held === undefined ? "" : toText(held.subarray(0, length), isWhole);
      held = undefined;
      return { text, isTruncated: !isWhole };
    },
  };
}

/** Decodes UTF-8. Invalid bytes and control characters become U+FFFD, except tabs and line breaks. A cut last character is dropped. */
const toText = (bytes: Uint8Array, isWhole: boolean): string =>
  new TextDecoder().decode(bytes, { stream: !isWhole }).replaceAll(CONTROL_CHARACTERS, "\ufffd");

const CONTROL_CHARACTERS = /[^\P{Cc}\t\n\r]/gu;
