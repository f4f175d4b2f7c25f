/** Creates a queue that runs functions one after another, in the order of the calls. A failing function does not stop the next one. */
export function createTurns(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const next = last.then(act, act);
    last = next;
    return next;
  };
}
