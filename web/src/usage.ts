import type { UsageCounts, UsageGroup } from "bridge-client";
import { formatCost, formatCount } from "./format.ts";

/** Formats a sum of costs. A part that is unknown is shown as `?`, and never as 0. */
export const formatCostSum = ({ costUsd, tasksWithoutCost }: Pick<UsageCounts, "costUsd" | "tasksWithoutCost">): string =>
  markUnknown(formatCost(costUsd), costUsd !== null && tasksWithoutCost > 0);

/** Formats a sum of tokens of the given counts. */
export const formatTokenSum = (tokens: number | null, { tasksWithoutUsage }: Pick<UsageCounts, "tasksWithoutUsage">): string =>
  markUnknown(formatCount(tokens), tokens !== null && tasksWithoutUsage > 0);

const markUnknown = (text: string, isPartlyUnknown: boolean): string => (isPartlyUnknown ? `${text} + ?` : text);

/** What a chart shows. */
export const measures = ["tasks", "cost", "tokens"] as const;
export type Measure = (typeof measures)[number];

/** The parts of a bar, from the bottom to the top. `kind` selects the color. */
export const measureParts: Readonly<Record<Measure, readonly { kind: string; label: string; read(group: UsageGroup): number | null }[]>> = {
  tasks: [
    { kind: "completed", label: "completed", read: ({ completed }) => completed },
    { kind: "failed", label: "failed", read: ({ failed }) => failed },
    { kind: "cancelled", label: "canceled", read: ({ cancelled }) => cancelled },
  ],
  cost: [{ kind: "cost", label: "known cost in US dollars", read: ({ costUsd }) => costUsd }],
  tokens: [
    { kind: "input", label: "input tokens", read: ({ inputTokens }) => inputTokens },
    { kind: "output", label: "output tokens", read: ({ outputTokens }) => outputTokens },
  ],
};
