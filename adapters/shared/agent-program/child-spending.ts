import type { ExecutionResult, NormalizedUsage, TaskErrorCode } from "#contract";

/** Adds up what the child tasks of one task have used. */
export interface ChildSpending {
  add(result: Pick<ExecutionResult, "status" | "errorCode" | "usage" | "costUsd">): void;
  /** Absent if one child task did not report it, because a partial sum would look like the total. */
  readonly total: Pick<ExecutionResult, "usage" | "costUsd">;
}

/** Error codes of tasks that end before any model call. */
const unbilled: readonly (TaskErrorCode | undefined)[] = ["adapter_offline", "authentication_required", "rate_limited", "spawn_failed"];

/** Starts with nothing. */
export function createChildSpending(): ChildSpending {
  const usages: (NormalizedUsage | undefined)[] = [];
  const costs: (number | undefined)[] = [];
  return {
    add({ status, errorCode, usage, costUsd }) {
      if (status === "error" && usage === undefined && costUsd === undefined && unbilled.includes(errorCode)) return;
      usages.push(usage);
      costs.push(costUsd);
    },
    get total() {
      const usage = sumUsage(usages);
      const costUsd = sum(costs);
      return { ...(usage !== undefined && { usage }), ...(costUsd !== undefined && { costUsd }) };
    },
  };
}

function sumUsage(usages: readonly (NormalizedUsage | undefined)[]): NormalizedUsage | undefined {
  const [inputTokens, outputTokens] = [sum(usages.map((usage) => usage?.inputTokens)), sum(usages.map((usage) => usage?.outputTokens))];
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const parts = (["thinkingTokens", "cacheReadTokens", "cacheWriteTokens"] as const).flatMap((name) => {
    const tokens = sum(usages.map((usage) => usage?.[name]));
    return tokens === undefined ? [] : [[name, tokens]];
  });
  return { inputTokens, outputTokens, ...Object.fromEntries(parts) };
}

/** Undefined when there is nothing to add up, or one of the numbers is not known. */
function sum(numbers: readonly (number | undefined)[]): number | undefined {
  if (numbers.length === 0) return undefined;
  let total = 0;
  for (const number of numbers) {
    if (number === undefined) return undefined;
    total += number;
  }
  return total;
}
