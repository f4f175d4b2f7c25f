/** Maximum answers of one origin of which Bridge reads the rest at the same time. As many as its POSTs in progress. */
const MAX_PER_ORIGIN = 8;
/** Maximum of all origins. */
const MAX_IN_TOTAL = 256;

/**
 * Creates the limit on the answers whose status is known and whose rest is still being read, so that their connections can
 * be reused. They occupy no slot, so that an answer that never ends delays no other callback.
 */
export function createDrainingAnswers() {
  const counts = new Map<string, number>();
  let total = 0;

  function change(origin: string, difference: 1 | -1): void {
    const count = (counts.get(origin) ?? 0) + difference;
    if (count === 0) counts.delete(origin);
    else counts.set(origin, count);
    total += difference;
  }

  return {
    /** Counts an answer until it has ended. Returns false, and counts nothing, if there are too many. */
    add(origin: string, ended: Promise<unknown>): boolean {
      if (total >= MAX_IN_TOTAL || (counts.get(origin) ?? 0) >= MAX_PER_ORIGIN) return false;
      change(origin, 1);
      void ended.then(() => change(origin, -1));
      return true;
    },
  };
}
