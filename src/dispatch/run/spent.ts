import type { ExecutionResult, NormalizedUsage } from "#contract";
import type { Store } from "../../store/store.ts";
import type { Spent, Task } from "../../task.ts";

/** What a task has spent that reports nothing. */
export const nothingSpent: Spent = { usage: null, costUsd: null, costSource: null };

/** Adds up what several parts have spent. What one part does not know is unknown in the sum, because it would look like the total. */
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

/** Removes the digits that binary fractions add, as in 0.010000000000000002. */
export const withoutDust = (costUsd: number): number => Number(costUsd.toPrecision(12));

const PARTS = ["thinkingTokens", "cacheReadTokens", "cacheWriteTokens", "cacheWrite1hTokens"] as const;

/** Adds up two usages. A count that only one of them has is that of the sum. */
function addUsage(a: NormalizedUsage, b: NormalizedUsage): NormalizedUsage {
  const parts = PARTS.filter((part) => a[part] !== undefined || b[part] !== undefined);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...Object.fromEntries(parts.map((part) => [part, (a[part] ?? 0) + (b[part] ?? 0)])),
  };
}

/** Reads what earlier runs of a task have spent, as far as it is known. */
export async function readSpent(
  store: Pick<Store, "findStoredTask">,
  { tenant, taskId }: Pick<Task, "tenant" | "taskId">,
): Promise<Spent | null> {
  const summary = (await store.findStoredTask(tenant, taskId))?.summary;
  if (summary === undefined || (summary.usage === null && summary.costUsd === null)) return null;
  const { usage, costUsd, costSource } = summary;
  return { usage, costUsd, costSource };
}

/** Sets what a task has spent in its result. */
export function withSpent(result: ExecutionResult, { usage, costUsd, costSource }: Spent): ExecutionResult {
  const { usage: _, costUsd: __, costSource: ___, ...others } = result;
  return { ...others, ...(usage !== null && { usage }), ...(costUsd !== null && costSource !== null && { costUsd, costSource }) };
}
