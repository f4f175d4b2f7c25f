import { monitorEventLoopDelay } from "node:perf_hooks";

/** A measurement of the event loop. */
export interface LoopReport {
  /** The longest block of the event loop. */
  longestMs: number;
  /** CPU time of the event loop's thread. */
  cpuMs: number;
}

const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let before = process.threadCpuUsage();
delay.enable();
// Measures the event loop of the Bridge of `bridge.ts`. "start" resets the measurement, any other message reports it.
process.on("message", (message) => {
  if (message === "start") {
    (globalThis as { gc?: () => void }).gc?.();
    delay.reset();
    before = process.threadCpuUsage();
    process.send?.("started");
  } else {
    const { user, system } = process.threadCpuUsage(before);
    process.send?.({ longestMs: delay.max / 1e6 - RESOLUTION_MS, cpuMs: (user + system) / 1000 } satisfies LoopReport);
  }
});
// An open channel would keep the process alive.
process.once("SIGTERM", () => process.disconnect());
await import("./bridge.ts");
