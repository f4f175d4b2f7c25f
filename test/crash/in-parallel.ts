const LANES = 8;

/** Handles all items, a few at a time. */
export async function inParallel<T>(items: Iterable<T>, handle: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items].values();
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (const item of rest) await handle(item);
    }),
  );
}
