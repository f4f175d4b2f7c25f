/**
 * Whether a timer of that length, set before the work, fires before the work ends. Timers of a process fire in the order in which they are due, so this
 * holds on a busy machine, too, for work that waits for a timer of that length.
 */
export async function outlasts(work: () => Promise<unknown>, timerMs: number): Promise<boolean> {
  let fired = false;
  const timer = setTimeout(() => {
    fired = true;
  }, timerMs);
  await work();
  clearTimeout(timer);
  return fired;
}
