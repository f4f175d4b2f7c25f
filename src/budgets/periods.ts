import type { BudgetLimit, LimitsAt } from "../store/budgets/interface.ts";
import { type Budget, periodOf } from "./budget.ts";

/** Creates the function that returns the limits of all budgets with a period. Each claim calls it, so it computes a period only once. */
export function createLimits(budgets: () => readonly Budget[]): LimitsAt {
  let known: { of: readonly Budget[]; startsAt: number; endsAt: number; limits: readonly BudgetLimit[] } | null = null;
  return (now) => {
    const of = budgets();
    if (known !== null && known.of === of && known.startsAt <= now && now < known.endsAt) return known.limits;
    const limits = of.flatMap((budget) => toLimit(budget, now) ?? []);
    known = {
      ...{ of, limits },
      startsAt: Math.max(...limits.map(({ startsAt }) => startsAt)),
      endsAt: Math.min(...limits.map(({ endsAt }) => endsAt)),
    };
    return limits;
  };
}

/** Returns the limit of a budget in its current period; null if it limits each task alone. */
function toLimit({ name, scope, per, timezone, maxMicros, maxTokens, warnAt }: Budget, now: number): BudgetLimit | null {
  if (per === "task") return null;
  return {
    ...{ name, maxMicros, maxTokens, warnAt, ...periodOf({ per, timezone }, now) },
    ...{ tenant: scope.tenant ?? null, provider: scope.provider ?? null },
  };
}
