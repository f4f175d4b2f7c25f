import { renameSync, writeFileSync } from "node:fs";
import type { StoredPeriod } from "./stored-spending.ts";

/** A budget of the operator that limits the tasks of a run. */
export interface TestBudget {
  name: string;
  /** The only tenant whose tasks it limits; null: all. */
  tenant: string | null;
  unit: "micros" | "tokens";
  per: "hour" | "month";
  whenReached: "wait" | "refuse";
  /** For how many of the largest asks it has room. Fewer than there are slots, so that tasks wait for it. */
  room: number;
}

/** The budgets of the crash test and the cluster test. */
export const testBudgets: readonly TestBudget[] = [
  { name: "all", tenant: null, unit: "micros", per: "hour", whenReached: "wait", room: 6 },
  { name: "others", tenant: "other", unit: "tokens", per: "month", whenReached: "refuse", room: 3 },
];

/** What tasks ask of budgets, far more than they use. A greedy one has a smaller maximum, which it reaches. */
const ASK = { maxCostUsd: 1, maxTokens: 10_000 };
export const budgetOfKind = (kind: string) => (kind === "greedy" ? { ...ASK, maxCostUsd: 0.05 } : ASK);

const largestAskOf = ({ unit }: TestBudget): number => (unit === "micros" ? ASK.maxCostUsd * 1e6 : ASK.maxTokens);

/** What is spent and reserved in a period, in the unit of the budget. */
export function usedOf({ unit }: TestBudget, period: StoredPeriod | undefined): number {
  if (period === undefined) return 0;
  return unit === "micros" ? period.spentMicros + period.reservedMicros : period.spentTokens + period.reservedTokens;
}

/** The newest period of a budget; undefined if nothing was reserved yet. */
export const newestOf = ({ name }: TestBudget, periods: readonly StoredPeriod[]): StoredPeriod | undefined =>
  periods.filter((period) => period.name === name).at(-1);

/** The file of budgets of a run. */
export interface TestBudgetsFile {
  readonly file: string;
  /** The highest maximum of each budget since the last call of `forgetMaxima`. */
  maxima(): ReadonlyMap<string, number>;
  /** Gives each budget its room again: above what is spent and reserved. Interrupted tasks without a report count as estimates. */
  refill(periods: readonly StoredPeriod[], scale?: number): void;
  /** Call it while Bridge does not run. */
  forgetMaxima(): void;
}

/** Creates a file of budgets in which nothing is spent. */
export function createTestBudgetsFile(file: string): TestBudgetsFile {
  const highest = new Map<string, number>();

  function refill(periods: readonly StoredPeriod[], scale = 1): void {
    const budgets = testBudgets.map((budget) => {
      const maximum = usedOf(budget, newestOf(budget, periods)) + Math.ceil(budget.room * scale) * largestAskOf(budget);
      highest.set(budget.name, Math.max(maximum, highest.get(budget.name) ?? 0));
      return {
        ...{ name: budget.name, scope: budget.tenant === null ? {} : { tenant: budget.tenant }, per: budget.per },
        ...(budget.unit === "micros" ? { maxCostUsd: maximum / 1e6 } : { maxTokens: maximum }),
        whenReached: budget.whenReached,
      };
    });
    writeFileSync(`${file}.new`, JSON.stringify(budgets));
    renameSync(`${file}.new`, file);
  }

  refill([]);
  return { file, maxima: () => highest, refill, forgetMaxima: () => highest.clear() };
}
