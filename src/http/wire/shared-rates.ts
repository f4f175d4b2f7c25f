/** How long a request can be unknown to the other nodes. */
const SHARE_INTERVAL_MS = 1_000;

/** Adds requests by key to those of all nodes in the current minute. Returns the sums of these keys, and when the minute ends. */
export type AddRateCounts = (counts: ReadonlyMap<string, number>) => Promise<{ sums: ReadonlyMap<string, number>; endsInMs: number }>;

/** The requests of all nodes. */
export interface SharedRates {
  /** Counts a request. Returns the requests with this key of all nodes, as far as they are known, and when the minute ends. */
  count(key: string): { current: number; endsInMs: number };
  close(): void;
}

const none = { current: 0, endsInMs: 0 };

/** Counts nothing, because there are no other nodes. */
export const loneRates: SharedRates = { count: () => none, close() {} };

/**
 * Counts requests over all nodes. While there are requests, their counts are exchanged once a second, so that a limit holds except for the
 * requests of one second. If the exchange fails, each node continues with what it knows. `clock` is for tests.
 */
export function createSharedRates(add: AddRateCounts, clock: () => number = () => performance.now()): SharedRates {
  /** Sums of all nodes by key, valid until `endsAt`. */
  let sums = new Map<string, number>();
  let endsAt = 0;
  /** Requests that other nodes do not know yet. */
  let unshared = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function shareSoon(): void {
    if (timer === undefined && !isClosed) timer = setTimeout(() => void share(), SHARE_INTERVAL_MS).unref();
  }

  async function share(): Promise<void> {
    const counts = unshared;
    unshared = new Map();
    try {
      const found = await add(counts);
      const foundEndsAt = clock() + found.endsInMs;
      sums = isSameMinute(endsAt, foundEndsAt) ? new Map([...sums, ...found.sums]) : new Map(found.sums);
      endsAt = foundEndsAt;
    } catch {
      for (const [key, count] of counts) addTo(unshared, key, count);
    }
    timer = undefined;
    if (unshared.size > 0) shareSoon();
  }

  return {
    count(key) {
      addTo(unshared, key, 1);
      shareSoon();
      const now = clock();
      const shared = now < endsAt ? (sums.get(key) ?? 0) : 0;
      return { current: shared + (unshared.get(key) ?? 0), endsInMs: Math.max(0, endsAt - now) };
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Two exchanges in one minute compute its end with a small difference. */
const isSameMinute = (oneEnd: number, otherEnd: number): boolean => Math.abs(oneEnd - otherEnd) < 30_000;

function addTo(counts: Map<string, number>, key: string, change: number): void {
  counts.set(key, (counts.get(key) ?? 0) + change);
}
