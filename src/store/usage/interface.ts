import type { UsageCounts } from "./counts.ts";

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
