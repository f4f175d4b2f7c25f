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
