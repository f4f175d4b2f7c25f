import type { DatabaseFault } from "./crash-database.ts";
import { type Phase, phases } from "./phase-counter.ts";
import type { Random } from "./random.ts";

/** The time of one kill. */
export interface Round {
  phase: Phase;
  /** Number of events of the phase before the kill. */
  occurrence: number;
  /** Delay after these events, in milliseconds; for `recovery`, as a fraction of the startup time. */
  delay: number;
  /** What happens to the database before, after this number of events of running tasks. */
  fault: { kind: DatabaseFault; occurrence: number } | null;
}

/** In most rounds, the database works until the kill. */
const FAULT_PROBABILITY = 0.4;

/** Distributes the kills evenly over the phases, and randomly within each phase. Adds faults of the database, if there are any. */
export function planRounds(count: number, random: Random, faults: readonly DatabaseFault[] = []): Round[] {
  const planFault = (): Round["fault"] =>
    faults.length > 0 && random.chance(FAULT_PROBABILITY) ? { kind: random.pick(faults), occurrence: random.integer(1, 40) } : null;
  return Array.from({ length: count }, () => {
    const phase = random.pick(phases);
    if (phase === "recovery") return { phase, occurrence: 0, delay: 0.5 + random.next(), fault: null };
    const occurrence = random.integer(1, phase === "run" ? 60 : 25);
    // Some kills happen in the same turn of the event loop as the event.
    return { phase, occurrence, delay: random.chance(0.3) ? 0 : random.next() * 12, fault: planFault() };
  });
}
