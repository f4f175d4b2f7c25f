const START_LIMIT_MS = 30_000;

/** Waits until `isReady` returns without an error; rejects after 30 s. */
export async function waitUntilReady(program: string, isReady: () => unknown): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    try {
      isReady();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`${program} was not ready within ${START_LIMIT_MS} ms.`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
