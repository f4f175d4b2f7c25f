import path from "node:path";
import { Worker } from "node:worker_threads";
import type { Database } from "better-sqlite3";

/** Number of writes after which a checkpoint starts. Most writes add one or two pages of 4 KiB to the log. */
const WRITES_BETWEEN_CHECKPOINTS = 600;
/** Bytes of a large write that count as one write. */
const BYTES_PER_WRITE = 4096;
/** If the thread does not keep up, SQLite itself runs a checkpoint at a commit that finds this many pages in the log: 16 MiB. */
const MAX_LOG_PAGES = 4000;

/**
 * Copies the write-ahead log into the database file from a worker thread, because the copy waits for the disk. The thread starts with the
 * first checkpoint.
 */
export function createCheckpoints(database: Database, file: string) {
  let worker: Worker | null = null;
  let writes = 0;
  let isRunning = false;
  let isClosed = false;
  database.pragma(`wal_autocheckpoint = ${MAX_LOG_PAGES}`);

  function start(): void {
    writes = 0;
    isRunning = true;
    worker ??= startWorker();
    worker.postMessage("copy");
  }

  function startWorker(): Worker {
    const started = new Worker(new URL(`./checkpoint-thread${path.extname(import.meta.url)}`, import.meta.url), {
      env: {},
      execArgv: [],
      workerData: file,
    });
    started.on("message", finish);
    // The thread fails, for example, if it cannot open the file. The next checkpoint starts a new thread.
    started.on("error", () => {});
    started.on("exit", () => {
      worker = null;
      isRunning = false;
    });
    // Bridge can end while the thread waits.
    started.unref();
    return started;
  }

  /** Copies what was written during the checkpoint, so that the next commit can start the log again from its beginning. */
  function finish(): void {
    isRunning = false;
    if (isClosed || database.inTransaction) return;
    try {
      database.pragma("wal_checkpoint(PASSIVE)");
    } catch {
      // The next commit reports the fault.
    }
  }

  return {
    /** Counts a write to the log. `bytes` is the approximate size of a large one. */
    countWrite(bytes = 0): void {
      writes += 1 + Math.floor(bytes / BYTES_PER_WRITE);
    },
    /** Starts a checkpoint if it is due. Call it after a commit. */
    startIfDue(): void {
      if (writes >= WRITES_BETWEEN_CHECKPOINTS && !isRunning && !isClosed) start();
    },
    /** Ends the thread after its current copy. */
    async close(): Promise<void> {
      isClosed = true;
      if (worker === null) return;
      const { promise: ended, resolve } = Promise.withResolvers<unknown>();
      worker.once("exit", resolve);
      worker.ref();
      // `terminate()` would abort the whole process while the thread loads better-sqlite3.
      worker.postMessage("close");
      await ended;
    },
  };
}
