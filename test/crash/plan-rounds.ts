import { type Phase, phases } from "./moments.ts";
import type { Random } from "./random.ts";

/** Where one kill strikes. */
export interface Round {
  phase: Phase;
  /** The kill waits for so many moments of its phase. */
  occurrence: number;
  /** And then for so long; for `recovery`, in parts of the time that a start takes. */
  delay: number;
}

/** Spreads the kills evenly over the phases, and at random within each. */
export function planRounds(count: number, random: Random): Round[] {
  return Array.from({ length: count }, () => {
    const phase = random.pick(phases);
    if (phase === "recovery") return { phase, occurrence: 0, delay: 0.5 + random.next() };
    const occurrence = random.integer(1, phase === "run" ? 60 : 25);
    // Some strike in the very turn in which the moment is seen.
    return { phase, occurrence, delay: random.chance(0.3) ? 0 : random.next() * 12 };
  });
}
