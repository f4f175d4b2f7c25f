import { type Phase, phases } from "./moments.ts";
import type { Random } from "./random.ts";

/** When one kill occurs. */
export interface Round {
  phase: Phase;
  /** The number of moments of its phase before the kill. */
  occurrence: number;
  /** The delay after the last moment; for `recovery`, as a fraction of the time that a start takes. */
  delay: number;
}

/** Spreads the kills evenly over the phases, and at random within each. */
export function planRounds(count: number, random: Random): Round[] {
  return Array.from({ length: count }, () => {
    const phase = random.pick(phases);
    if (phase === "recovery") return { phase, occurrence: 0, delay: 0.5 + random.next() };
    const occurrence = random.integer(1, phase === "run" ? 60 : 25);
    // Some kills occur in the same event-loop turn as the moment.
    return { phase, occurrence, delay: random.chance(0.3) ? 0 : random.next() * 12 };
  });
}
