/**
 * Returns the result of the work. When the limit passes first, returns the result of `onTimeout` or rejects with what it throws. The work
 * itself continues, and its late result or error is ignored.
 */
export async function withTimeout<T, L>(work: Promise<T>, limitMs: number, onTimeout: () => L): Promise<T | L> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  try {
    return await Promise.race([work, timeout.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}
