import { rejectOnAbort } from "./reject-on-abort.ts";

/** Serial queues, one for each key. */
export interface Turns {
  /**
   * Calls the function after all earlier functions with this key have settled, and returns its result. A failed function does not stop the
   * next one. When the signal aborts before the call, rejects with its reason at once and does not call the function.
   */
  take<T>(key: string, act: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Returns whether a function with this key is running or waiting. */
  isTaken(key: string): boolean;
}

/** Creates serial queues. An empty queue uses no memory. */
export function createTurns(): Turns {
  /** For each key, a promise that resolves when its last function has settled. */
  const queues = new Map<string, Promise<void>>();

  return {
    async take(key, act, signal) {
      const turn = queues.get(key) ?? Promise.resolve();
      const result = turn.then(() => {
        signal?.throwIfAborted();
        return act();
      });
      const remove = (): void => {
        if (queues.get(key) === settled) queues.delete(key);
      };
      const settled = result.then(remove, remove);
      queues.set(key, settled);
      await rejectOnAbort(turn, signal);
      return await result;
    },
    isTaken: (key) => queues.has(key),
  };
}
