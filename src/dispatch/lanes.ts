/** The slots of one adapter and the tasks that wait for one. Counted in memory; the store holds the truth. */
export interface Lane {
  readonly provider: string;
  readonly maxConcurrent: number;
  /** Slots taken, from the claim until the runtime is really gone. */
  running: number;
  queued: number;
  /** Claims under way: each has a slot already, and one of the queued tasks to come. */
  claiming: number;
}

/** The lanes of all adapters. */
export interface Lanes {
  of(provider: string): Lane;
  all(): Iterable<Lane>;
  /** Queued tasks in all lanes. */
  queuedInAll(): number;
}

/** Makes a lane for each provider when it is first asked for. */
export function createLanes(maxConcurrent: (provider: string) => number): Lanes {
  const lanes = new Map<string, Lane>();
  return {
    of(provider) {
      const known = lanes.get(provider);
      if (known !== undefined) return known;
      const lane = { provider, maxConcurrent: maxConcurrent(provider), running: 0, queued: 0, claiming: 0 };
      lanes.set(provider, lane);
      return lane;
    },
    all: () => lanes.values(),
    queuedInAll: () => [...lanes.values()].reduce((sum, lane) => sum + lane.queued, 0),
  };
}
