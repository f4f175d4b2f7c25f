/** Returns the result of the work, or null when the signal aborts and the work does not settle within the grace period after that. */
export async function nullIfAborted<T>(work: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T | null> {
  const { promise: tooLate, resolve } = Promise.withResolvers<null>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(resolve, graceMs, null);
  };
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
