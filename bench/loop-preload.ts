import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/** A measurement of the event loop since the previous message, or since the start. */
export interface LoopReport {
  /** The longest block of the event loop. */
  longestMs: number;
  /** The 50th and 99th percentile of the time between two expirations of a timer of `LOOP_RESOLUTION_MS`. */
  p50Ms: number;
  p99Ms: number;
  /** CPU time of the event loop's thread. */
  cpuMs: number;
}

/** The shortest interval that Node can measure. */
export const LOOP_RESOLUTION_MS = 1;

/**
 * Load this file into a server with `--import`. The server then measures its event loop, and answers each IPC message with a report. After
 * a report, it starts a new measurement; with `--expose-gc`, it collects garbage first.
 */
if (isMainThread && process.send !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  let before = process.threadCpuUsage();
  delay.enable();
  process.on("message", () => {
    const { user, system } = process.threadCpuUsage(before);
    const report: LoopReport = {
      longestMs: delay.max / 1e6 - LOOP_RESOLUTION_MS,
      p50Ms: delay.percentile(50) / 1e6,
      p99Ms: delay.percentile(99) / 1e6,
      cpuMs: (user + system) / 1000,
    };
    (globalThis as { gc?: () => void }).gc?.();
    delay.reset();
    before = process.threadCpuUsage();
    process.send?.(report);
  });
  // An open channel would keep the process alive.
  process.once("SIGTERM", () => process.disconnect());
}
