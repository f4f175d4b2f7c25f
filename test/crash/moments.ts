/** Where on the path of a task a kill strikes. */
export const phases = ["dispatch", "run", "callback", "recovery"] as const;
export type Phase = (typeof phases)[number];

/** Counts what is seen of Bridge's work from outside, so that a kill strikes in the middle of it. */
export interface Moments {
  happened(phase: Phase): void;
  /** Resolves at the n-th moment of the phase from now on (true), or when the time is over (false). */
  reach(phase: Phase, occurrence: number, limitMs: number): Promise<boolean>;
}

/** Creates the counter; one waits at a time. */
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
