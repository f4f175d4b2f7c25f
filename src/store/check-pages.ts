import { Worker } from "node:worker_threads";

/** A check of a database file in a worker thread. */
export interface PageCheck {
  /** Resolves with the first fault, or null where there is none or the check was ended; rejects when the file cannot be checked. */
  fault: Promise<string | null>;
  /** Ends the check. */
  end(): Promise<void>;
}

/** Checks every page of a file in a worker thread, over a separate read-only connection. */
export function startPageCheck(file: string): PageCheck {
  const worker = new Worker(new URL("./check-pages-worker.ts", import.meta.url), { workerData: file });
  worker.unref();
  const { promise: fault, resolve, reject } = Promise.withResolvers<string | null>();
  worker.once("message", resolve);
  worker.once("error", reject);
  worker.once("exit", () => resolve(null));
  return {
    fault,
    async end() {
      await worker.terminate();
    },
  };
}
