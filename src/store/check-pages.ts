import { Worker } from "node:worker_threads";

/** A check of a database file that runs beside the event loop. */
export interface PageCheck {
  /** Resolves with the first fault, or null where there is none or the check was ended; rejects when the file cannot be checked. */
  fault: Promise<string | null>;
  /** Ends the check. */
  end(): Promise<void>;
}

/** Checks every page of a file in a thread of its own, over a read-only connection of its own. */
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
