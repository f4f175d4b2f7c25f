/** CPU time of one turn of the event loop after which further requests wait for the next turn. */
const MAX_TURN_MS = 10;
/** Maximum waiting requests that start in one turn of the event loop. */
const MAX_STARTS_PER_TURN = 64;
/**
 * Turns of the event loop between those in which waiting requests start. Node accepts one connection in each turn, so that
 * a new client would otherwise wait for as many requests as there are connections before its own.
 */
const TURNS_BETWEEN = 16;

export type RequestTurns = ReturnType<typeof createRequestTurns>;

/**
 * Creates the turns in which requests start, so that many requests that arrive at the same moment do not block the event
 * loop for the sum of their times. Requests start at once while the current turn of the event loop has time. Otherwise
 * they wait, and the tenants take turns. `clock` is for tests.
 */
export function createRequestTurns(clock: () => number = () => performance.now()) {
  /** The waiting requests of each tenant. The order of the tenants is the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  /** Start of the first request in this turn of the event loop; null if there was none. */
  let turnStartedAt: number | null = null;
  let isScheduled = false;

  function hasTime(): boolean {
    const now = clock();
    if (turnStartedAt === null) {
      turnStartedAt = now;
      if (!isScheduled) schedule();
    }
    return now - turnStartedAt < MAX_TURN_MS;
  }

  /** Starts waiting requests after these turns. Each has a separate callback, so that it is done before the next one starts. */
  function schedule(turnsLeft = 0): void {
    isScheduled = true;
    setImmediate(() => {
      turnStartedAt = null;
      if (waiting.size > 0 && turnsLeft > 0) return schedule(turnsLeft - 1);
      isScheduled = waiting.size > 0;
      if (!isScheduled) return;
      for (let count = 0; count < MAX_STARTS_PER_TURN; count += 1) setImmediate(startNext);
      schedule(TURNS_BETWEEN);
    });
  }

  function startNext(): void {
    const [first] = waiting;
    if (first === undefined || !hasTime()) return;
    const [tenant, requests] = first;
    waiting.delete(tenant);
    requests.shift()?.();
    if (requests.length > 0) waiting.set(tenant, requests);
  }

  return {
    /** Resolves when the next request of this tenant may start; null if it may start at once. */
    take(tenant: string): Promise<void> | null {
      if (waiting.size === 0 && hasTime()) return null;
      return new Promise((resolve) => {
        const requests = waiting.get(tenant);
        if (requests === undefined) waiting.set(tenant, [resolve]);
        else requests.push(resolve);
        if (!isScheduled) schedule();
      });
    },
  };
}
