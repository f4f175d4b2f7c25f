import { monitorEventLoopDelay } from "node:perf_hooks";

/** A sample with a higher mean delay of the event loop counts as slow. */
const MAX_DELAY_MS = 500;
const SAMPLE_MS = 1_000;
const RESOLUTION_MS = 10;
/** Consecutive slow samples. One long block (a pause of the machine, one expensive request) is over when it is measured, so it causes no rejections. */
const SAMPLES_IN_A_ROW = 2;

/** Reports whether the event loop falls behind. */
export interface Overload {
  readonly isOverloaded: boolean;
  /** Starts to measure. Earlier blocks, such as the start itself, do not count. */
  start(): void;
  close(): void;
}

/** Options; `delays` is for tests, in nanoseconds as Node measures them. */
interface OverloadOptions {
  /** 0 means never overloaded. */
  maxDelayMs?: number;
  delays?: { enable(): void; disable(): void; reset(): void; readonly mean: number };
}

/** Creates the measurement; it does nothing before `start`. */
export function createOverload({ maxDelayMs = MAX_DELAY_MS, delays }: OverloadOptions = {}): Overload {
  const histogram = delays ?? monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let samplesOver = 0;
  let timer: NodeJS.Timeout | undefined;

  function sample(): void {
    // The mean is NaN if the loop was blocked for the whole sample. The delay is then measured right after this and counts in the next sample.
    if (Number.isNaN(histogram.mean)) return;
    const isOver = histogram.mean / 1e6 - RESOLUTION_MS > maxDelayMs;
    samplesOver = isOver ? samplesOver + 1 : 0;
    histogram.reset();
  }

  return {
    get isOverloaded() {
      return samplesOver >= SAMPLES_IN_A_ROW;
    },
    start() {
      if (maxDelayMs === 0) return;
      histogram.enable();
      histogram.reset();
      timer = setInterval(sample, SAMPLE_MS).unref();
    },
    close() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
