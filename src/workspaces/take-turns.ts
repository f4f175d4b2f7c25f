/** Acts of one name come one after the other, in the order in which they were asked for; those of different names do not wait for each other. */
export type TakeTurns = <T>(name: string, act: () => Promise<T>) => Promise<T>;

/** Creates the lines in which acts wait. */
export function createTurns(): TakeTurns {
  const lines = new Map<string, Promise<void>>();
  return async (name, act) => {
    const answer = (lines.get(name) ?? Promise.resolve()).then(act);
    const over = answer.then(
      () => {},
      () => {},
    );
    lines.set(name, over);
    try {
      return await answer;
    } finally {
      if (lines.get(name) === over) lines.delete(name);
    }
  };
}
