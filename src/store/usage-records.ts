import type { UsageCounts } from "./usage-counts.ts";

/** By what the usage of tasks is summed. */
export const usageDimensions = ["hour", "provider", "agent", "model", "label"] as const;
export type UsageDimension = (typeof usageDimensions)[number];

/** What the tasks with a key have used. Keys of labels are `name=value`. */
export interface UsageSum {
  key: string;
  counts: UsageCounts;
}
