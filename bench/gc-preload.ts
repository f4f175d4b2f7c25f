import { isMainThread } from "node:worker_threads";

/** Loaded with `--import` and `--expose-gc`: a server collects its garbage at every IPC message, and then answers. */
if (isMainThread) {
  process.on("message", () => {
    // The second collection frees what the first one finalized.
    for (let count = 0; count < 2; count += 1) (globalThis as { gc?: () => void }).gc?.();
    process.send?.({});
  });
  // An open channel would keep the process alive.
  process.once("SIGTERM", () => process.disconnect());
}
