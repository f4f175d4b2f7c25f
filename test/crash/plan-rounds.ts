import { type Phase, phases } from "./phase-counter.ts";
import type { Random } from "./random.ts";

/** The time of one kill. */
export interface Round {
  phase: Phase;
  /** Number of events of the phase before the kill. */
  occurrence: number;
  /** Delay after these events, in milliseconds; for `recovery`, as a fraction of the startup time. */
  delay: number;
}

/** Distributes the kills evenly over the phases, and randomly within each phase. */
export function planRounds(count: number, random: Random): Round[] {
  return Array.from({ length: count }, () => {
    const phase = random.pick(phases);
    if (phase === "recovery") return { phase, occurrence: 0, delay: 0.5 + random.next() };
    const occurrence = random.integer(1, phase === "run" ? 60 : 25);
    // Some kills happen in the same turn of the event loop as the event.
    return { phase, occurrence, delay: random.chance(0.3) ? 0 : random.next() * 12 };
  });
}
