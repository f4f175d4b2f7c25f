/** What all nodes have counted in the current minute of the database. */
export interface RateSums {
  /** Requests by key, over all nodes. */
  sums: ReadonlyMap<string, number>;
  /** Milliseconds until the minute ends. */
  endsInMs: number;
}

/** The counts of requests that the nodes of a PostgreSQL database share. */
export interface RateStore {
  /** Adds requests by key to the current minute. Returns the sums of these keys. Has its own time limit and is not retried. */
  addRateCounts(counts: ReadonlyMap<string, number>): Promise<RateSums>;
}
