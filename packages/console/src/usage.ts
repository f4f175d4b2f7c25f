import type { Stats, UsageCounts, UsageGroup } from "bridge-client";
import { formatCost, formatCount, showHidden } from "./format.ts";

/** Formats a sum of costs. A part that is unknown is shown as `?`, and never as 0. */
export const formatCostSum = ({ costUsd, tasksWithoutCost }: Pick<UsageCounts, "costUsd" | "tasksWithoutCost">): string =>
  markUnknown(formatCost(costUsd), costUsd !== null && tasksWithoutCost > 0);

/** Formats a sum of tokens of the given counts. */
export const formatTokenSum = (tokens: number | null, { tasksWithoutUsage }: Pick<UsageCounts, "tasksWithoutUsage">): string =>
  markUnknown(formatCount(tokens), tokens !== null && tasksWithoutUsage > 0);

const markUnknown = (text: string, isPartlyUnknown: boolean): string => (isPartlyUnknown ? `${text} + ?` : text);

/** What a chart shows. */
export const measures = ["cost", "tokens", "tasks"] as const;
export type Measure = (typeof measures)[number];

/** A part of all bars. `kind` selects the color. */
export interface BarPart {
  kind: string;
  label: string;
  /** One value per bar; null if it is unknown. */
  values: (number | null)[];
}

/** Maximum parts of a bar that have a name. Each has a color. */
export const MAX_PARTS = 6;

/** Returns the parts of the bars, from the bottom to the top: of tasks by state, otherwise by what the hours or days are split. */
export function listBarParts({ data }: Stats, measure: Measure): BarPart[] {
  if (measure === "tasks")
    return [
      { kind: "completed", label: "completed", values: data.map(({ completed }) => completed) },
      { kind: "failed", label: "failed", values: data.map(({ failed }) => failed) },
      { kind: "cancelled", label: "canceled", values: data.map(({ cancelled }) => cancelled) },
    ];
  const read = measure === "cost" ? ({ costUsd }: UsageCounts) => costUsd : readTokens;
  const parts = listPartKeys(data).map((key, index) => ({
    ...{ kind: `part-${index + 1}`, label: key === null ? "unknown model" : showHidden(key) },
    values: data.map(({ parts: own = [] }) => readPart(own.find((part) => part.key === key))),
  }));
  function readPart(part: UsageCounts | null | undefined): number | null {
    return part == null ? 0 : read(part);
  }
  const others = { kind: "others", label: "others", values: data.map(({ otherParts }) => readPart(otherParts)) };
  return data.some(({ otherParts }) => otherParts != null) ? [...parts, others] : parts;
}

/** Formats a value of a chart. */
export const formatMeasure = (measure: Measure, value: number | null): string =>
  measure === "cost" ? formatCost(value) : formatCount(value);

/** The keys of all parts, the most expensive first, so that a part keeps its color whatever is shown. */
function listPartKeys(data: readonly UsageGroup[]): (string | null)[] {
  const sums = new Map<string | null, { cost: number; tasks: number }>();
  for (const { key, costUsd, tasks } of data.flatMap(({ parts = [] }) => parts)) {
    const { cost, tasks: others } = sums.get(key) ?? { cost: 0, tasks: 0 };
    sums.set(key, { cost: cost + (costUsd ?? 0), tasks: others + tasks });
  }
  return [...sums].sort(([, one], [, other]) => other.cost - one.cost || other.tasks - one.tasks).map(([key]) => key);
}

const readTokens = ({ inputTokens, outputTokens }: UsageCounts): number | null =>
  inputTokens === null && outputTokens === null ? null : (inputTokens ?? 0) + (outputTokens ?? 0);

/** Describes how a value differs from the one of an earlier time: `+12 %`. Empty if one of them is unknown. */
export function describeChange(value: number | null, before: number | null): string {
  if (value === null || before === null) return "";
  if (before === 0) return value === 0 ? "no change" : "none before";
  const factor = value / before;
  if (factor >= 10) return `${formatCount(Math.round(factor))} times`;
  const percent = Math.round((factor - 1) * 100);
  if (percent === 0) return "no change";
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent)} %`;
}
