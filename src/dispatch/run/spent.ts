import type { ExecutionResult, NormalizedUsage } from "#contract";
import type { Spent } from "../../task.ts";

/** The spending of a task that reports nothing. */
export const nothingSpent: Spent = { usage: null, costUsd: null, costSource: null };

/** Adds up what several parts have spent. If one part is unknown, the sum is unknown: a sum of the others would look like the total. */
export function addSpent(parts: readonly Spent[]): Spent {
  if (parts.length === 0) return nothingSpent;
  const usages = parts.map(({ usage }) => usage);
  const usage = usages.every((part) => part !== null) ? usages.reduce(addUsage) : null;
  let costUsd = 0;
  for (const part of parts) {
    if (part.costUsd === null) return { ...nothingSpent, usage };
    costUsd += part.costUsd;
  }
  const isRuntimes = parts.every(({ costSource }) => costSource === "runtime");
  return { usage, costUsd: withoutDust(costUsd), costSource: isRuntimes ? "runtime" : "priced" };
}

/** Whether the costs and the numbers of tokens are the same. */
export const isSameSpent = (a: Spent, b: Spent): boolean =>
  a.costUsd === b.costUsd && a.usage?.inputTokens === b.usage?.inputTokens && a.usage?.outputTokens === b.usage?.outputTokens;

/** Removes the digits that binary fractions add, as in 0.010000000000000002. */
export const withoutDust = (costUsd: number): number => Number(costUsd.toPrecision(12));

const PARTS = ["thinkingTokens", "cacheReadTokens", "cacheWriteTokens", "cacheWrite1hTokens"] as const;

/** Adds up two usages. A count that only one of them has stays as it is. */
function addUsage(a: NormalizedUsage, b: NormalizedUsage): NormalizedUsage {
  const parts = PARTS.filter((part) => a[part] !== undefined || b[part] !== undefined);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...Object.fromEntries(parts.map((part) => [part, (a[part] ?? 0) + (b[part] ?? 0)])),
  };
}

/** Sets what a task has spent in its result. */
export function withSpent(result: ExecutionResult, { usage, costUsd, costSource }: Spent): ExecutionResult {
  const { usage: _, costUsd: __, costSource: ___, ...others } = result;
  return { ...others, ...(usage !== null && { usage }), ...(costUsd !== null && costSource !== null && { costUsd, costSource }) };
}
