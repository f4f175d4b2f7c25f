import { monitorEventLoopDelay } from "node:perf_hooks";

/** A sample with a higher mean delay of the event loop counts as slow. */
const MAX_DELAY_MS = 500;
const SAMPLE_MS = 1_000;
const RESOLUTION_MS = 10;
/** Consecutive slow samples that count as overload. A single long block, such as a pause of the machine, is over when it is measured. */
const MIN_SLOW_SAMPLES = 2;

export type OverloadMonitor = ReturnType<typeof createOverloadMonitor>;

/** Options of the monitor; `delays` is for tests, in nanoseconds as Node measures them. */
interface OverloadOptions {
  /** 0 disables the monitor. */
  maxDelayMs?: number;
  /** Called with the mean delay of each sample. */
  onSample?(delayMs: number): void;
  delays?: { enable(): void; disable(): void; reset(): void; readonly mean: number };
}

/** Creates the monitor that detects overload by the delay of the event loop. It measures nothing before `start`. */
export function createOverloadMonitor({ maxDelayMs = MAX_DELAY_MS, onSample = () => {}, delays }: OverloadOptions = {}) {
  const histogram = delays ?? monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let slowSamples = 0;
  let timer: NodeJS.Timeout | undefined;

  function sample(): void {
    // The mean is NaN if the loop was blocked for the whole sample. The delay is then measured right after this and
    // counts in the next sample.
    if (Number.isNaN(histogram.mean)) return;
    const delayMs = Math.max(0, histogram.mean / 1e6 - RESOLUTION_MS);
    slowSamples = delayMs > maxDelayMs ? slowSamples + 1 : 0;
    onSample(delayMs);
    histogram.reset();
  }

  return {
    get isOverloaded() {
      return slowSamples >= MIN_SLOW_SAMPLES;
    },
    /** Starts to measure. Earlier delays, such as those of the start itself, do not count. */
    start(): void {
      if (maxDelayMs === 0) return;
      histogram.enable();
      histogram.reset();
      timer = setInterval(sample, SAMPLE_MS).unref();
    },
    close(): void {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
