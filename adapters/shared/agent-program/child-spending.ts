import type { CostSource, ExecutionResult, NormalizedUsage, TaskErrorCode } from "#contract";

/** Error codes of tasks that end before any model call. */
const UNBILLED_CODES: readonly (TaskErrorCode | undefined)[] = [
  "adapter_offline",
  "authentication_required",
  "rate_limited",
  "spawn_failed",
];

export type ChildSpending = ReturnType<typeof createChildSpending>;

/** Adds up the usage and cost of the child tasks of one task. */
export function createChildSpending() {
  const usages: (NormalizedUsage | undefined)[] = [];
  const costs: (number | undefined)[] = [];
  let costSource: CostSource = "runtime";
  return {
    add(result: Pick<ExecutionResult, "status" | "errorCode" | "usage" | "costUsd" | "costSource">): void {
      const { status, errorCode, usage, costUsd } = result;
      if (status === "error" && usage === undefined && costUsd === undefined && UNBILLED_CODES.includes(errorCode)) return;
      usages.push(usage);
      costs.push(costUsd);
      if (result.costSource === "priced") costSource = "priced";
    },
    /** Omits a value if a child task did not report it, because a partial sum would look like the total. */
    get total(): Pick<ExecutionResult, "usage" | "costUsd" | "costSource"> {
      const usage = sumUsage(usages);
      const costUsd = sum(costs);
      return { ...(usage !== undefined && { usage }), ...(costUsd !== undefined && { costUsd, costSource }) };
    },
  };
}

function sumUsage(usages: readonly (NormalizedUsage | undefined)[]): NormalizedUsage | undefined {
  const [inputTokens, outputTokens] = [sum(usages.map((usage) => usage?.inputTokens)), sum(usages.map((usage) => usage?.outputTokens))];
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const parts = (["thinkingTokens", "cacheReadTokens", "cacheWriteTokens", "cacheWrite1hTokens"] as const).flatMap((name) => {
    const tokens = sum(usages.map((usage) => usage?.[name]));
    return tokens === undefined ? [] : [[name, tokens]];
  });
  return { inputTokens, outputTokens, ...Object.fromEntries(parts) };
}

/** Adds up numbers. Returns undefined if there are none or one of them is unknown. */
function sum(numbers: readonly (number | undefined)[]): number | undefined {
  if (numbers.length === 0) return undefined;
  let total = 0;
  for (const number of numbers) {
    if (number === undefined) return undefined;
    total += number;
  }
  return total;
}
