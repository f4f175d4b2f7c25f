/** The phase of a task at which a kill occurs. */
export const phases = ["dispatch", "run", "callback", "recovery"] as const;
export type Phase = (typeof phases)[number];

/** Counts the observed steps of Bridge's work, so that a kill occurs in the middle of it. */
export interface Moments {
  happened(phase: Phase): void;
  /** Resolves with true at the n-th moment of the phase from now on, or with false when the time limit expires. */
  reach(phase: Phase, occurrence: number, limitMs: number): Promise<boolean>;
}

/** Creates the counter, which supports one waiting caller at a time. */
export function createMoments(): Moments {
  let awaited: { phase: Phase; left: number; reached: () => void } | null = null;
  return {
    happened(phase) {
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
