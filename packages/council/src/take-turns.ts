/** Creates a line in which acts wait: one runs after the other, in the order of the calls. An act that fails does not stop the next one. */
export function createTurns(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const next = last.then(act, act);
    last = next;
    return next;
  };
}
