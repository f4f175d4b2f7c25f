import type { Logger } from "pino";
import type { Metrics } from "../metrics.ts";

/** Receivers of callbacks may reject requests from a clock that is wrong by minutes. */
const SKEW_WARNING_MS = 30_000;

/** Creates the record of by how much the clock of this host is ahead of the clock of the database. */
export function createClockSkew({ metrics, logger }: { metrics: Pick<Metrics, "clockSkew">; logger: Logger }) {
  let skewMs = 0;
  let hasWarned = false;
  return {
    /** The last skew, in ms. */
    ms: (): number => skewMs,
    /** Reports a measured skew, and warns of the first large one. */
    track(ms: number): void {
      skewMs = ms;
      metrics.clockSkew.set(ms / 1000);
      if (Math.abs(ms) <= SKEW_WARNING_MS || hasWarned) return;
      hasWarned = true;
      logger.warn(
        { skewSeconds: Math.round(ms / 1000) },
        "the clock of this host differs from the clock of the database; synchronize both",
      );
    },
  };
}
