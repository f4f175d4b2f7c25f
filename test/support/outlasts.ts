/**
 * Whether a timer that is started before the work fires before the work ends. Timers of a process fire in the order of their due times, so
 * the result does not depend on the load of the machine if the work itself waits for a timer.
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
