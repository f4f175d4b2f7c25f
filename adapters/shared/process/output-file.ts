import { randomUUID } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Interval between reads. */
const POLL_MS = 50;
/** The chunk size of a pipe. Other work runs between two chunks. */
const CHUNK_BYTES = 64 * 1024;

export type OutputFile = Awaited<ReturnType<typeof openOutputFile>>;

/**
 * Opens a file for the output of a program, which Bridge reads while the program writes. The file has no name, so the kernel
 * deletes it when the last process closes it.
 */
export async function openOutputFile(directory: string) {
  const name = path.join(directory, randomUUID());
  // In append mode, concurrent writers do not overwrite each other, and continue at the start after `empty()`.
  const handle = await open(name, "ax+", 0o600);
  await unlink(name);
  let position = 0;

  /** Yields the output since the last read. */
  async function* readNewOutput(): AsyncGenerator<Buffer, void, undefined> {
    const { size } = await handle.stat();
    if (size < position) position = 0;
    while (position < size) {
      const length = Math.min(size - position, CHUNK_BYTES);
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  return {
    /** The path by which another process of the same user can open the file while Bridge has it open. */
    path: `/proc/${process.pid}/fd/${handle.fd}`,
    /** Yields the output until `ended` aborts, and then the rest. */
    async *readChunks(ended: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
      while (!ended.aborted) {
        yield* readNewOutput();
        // A file watcher can miss changes.
        await delay(POLL_MS, undefined, { signal: ended }).catch(() => {});
      }
      yield* readNewOutput();
    },
    /** Frees the disk space of the output so far. */
    empty: (): Promise<void> => handle.truncate(0),
    close: (): Promise<void> => handle.close(),
  };
}
