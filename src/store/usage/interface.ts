/** What tasks have used, by the hour of their end. Each end adds to it in its own transaction. */
export interface UsageStore {
  /** Sums the usage of the tasks of a tenant that ended in these hours, counted since the epoch, by a dimension. */
  sumUsage(tenant: string, hours: readonly number[], by: UsageDimension): Promise<UsageSum[]>;
  /** Sums the usage of each of these hours, split into parts. */
  sumUsageParts(tenant: string, hours: readonly number[], parts: UsageParts): Promise<UsageSum[]>;
}

/** By what the usage of tasks is summed. */
export const usageDimensions = ["hour", "provider", "agent", "model", "label"] as const;

export type UsageDimension = (typeof usageDimensions)[number];

/** By what the sums of each hour are split: only by keys of which a task has one. */
export const usageSplits = ["provider", "agent", "model"] as const;

export type UsageSplit = (typeof usageSplits)[number];

/** Which parts of a sum are returned. All other parts are one, with the key of `OTHER`. */
export interface UsageParts {
  by: UsageSplit;
  keys: readonly string[];
}

/** What the tasks with a key have used. Keys of labels are `name=value`. */
export interface UsageSum {
  key: string;
  /** The part of the sum, if it is split. */
  part?: string;
  counts: UsageCounts;
}

/** What tasks have used. The names are those of columns; `cost_micros` is in millionths of a US dollar. */
export const usageCounts = [
  "completed",
  "failed",
  "cancelled",
  "duration_ms",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "usage_unknown",
  "cost_micros",
  "cost_unknown",
] as const;

export type UsageCounts = Record<(typeof usageCounts)[number], number>;

/** Adds counts to a sum. */
export function addCounts(sum: UsageCounts, counts: UsageCounts): void {
  for (const name of usageCounts) sum[name] += counts[name];
}

/** Counts of nothing. */
export const noCounts = (): UsageCounts => Object.fromEntries(usageCounts.map((name) => [name, 0])) as UsageCounts;
