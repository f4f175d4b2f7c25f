/** Phases of a task in which Bridge is killed. */
export const phases = ["dispatch", "run", "callback", "recovery"] as const;
export type Phase = (typeof phases)[number];

/** Counts observed events of each phase, so that a kill happens during that phase. */
export interface PhaseCounter {
  record(phase: Phase): void;
  /** Resolves with true at the n-th next event of the phase, or with false at the time limit. */
  reach(phase: Phase, occurrence: number, limitMs: number): Promise<boolean>;
}

/** Creates the counter. Only one call of `reach` may wait at a time. */
export function createPhaseCounter(): PhaseCounter {
  let awaited: { phase: Phase; left: number; reached: () => void } | null = null;
  return {
    record(phase) {
      if (awaited?.phase !== phase) return;
      awaited.left -= 1;
      if (awaited.left <= 0) awaited.reached();
    },
    async reach(phase, occurrence, limitMs) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(false), limitMs);
      awaited = { phase, left: occurrence, reached: () => resolve(true) };
      const reached = await promise;
      clearTimeout(timer);
      awaited = null;
      return reached;
    },
  };
}
