import { randomUUID } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** How soon what was written is seen. */
const pollMs = 50;
/** The chunk size of a pipe. Other work runs between two chunks. */
const chunkBytes = 64 * 1024;

/** A file that is read while others write to it. */
export interface OutputFile {
  /** What a program is given to write to. */
  fd: number;
  /** What is written, as it comes, until `ended`; then what is there by that time. */
  chunks(ended: AbortSignal): AsyncGenerator<Buffer, void, undefined>;
  /** Gives the disk back what was written so far; what is written afterwards is read as ever. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** Makes a file that has no name: nothing of it is left when the last process that holds it is gone, whoever that is. */
export async function openOutputFile(directory: string): Promise<OutputFile> {
  const name = path.join(directory, randomUUID());
  // Appending: several writers do not overwrite one another, and after an emptying they go on at the beginning.
  const handle = await open(name, "ax+", 0o600);
  await unlink(name);
  let position = 0;

  /** Who goes on writing meanwhile is not waited for. */
  async function* writtenSince(): AsyncGenerator<Buffer, void, undefined> {
    const { size } = await handle.stat();
    if (size < position) position = 0;
    while (position < size) {
      const wanted = Math.min(size - position, chunkBytes);
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  return {
    fd: handle.fd,
    async *chunks(ended) {
      while (!ended.aborted) {
        yield* writtenSince();
        // Polled, for a watcher may miss a change.
        await delay(pollMs, undefined, { signal: ended }).catch(() => {});
      }
      yield* writtenSince();
    },
    empty: () => handle.truncate(0),
    close: () => handle.close(),
  };
}
