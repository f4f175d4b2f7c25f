import type { BudgetStore, Spending, SpendingKey } from "../store/budgets/interface.ts";

/** What a task is expected to use. */
export interface Estimate {
  micros: number;
  tokens: number;
}

/** Ended tasks that an estimate uses. */
const SAMPLE_SIZE = 50;
/** The share of these tasks that used no more than the estimate. */
const QUANTILE = 0.95;
const MAX_AGE_MS = 60_000;
/** Estimates that are remembered, because callers choose the names of agents and models. */
const MAX_REMEMBERED = 1_000;
/** The estimate without an ended task that used a known number of tokens. */
const DEFAULT_TOKENS = 200_000;

/** Creates the function that estimates what a task will use: as much as nearly all recent tasks of the same kind have used. */
export function createEstimates(store: Pick<BudgetStore, "readRecentSpending">, defaultMicros: number) {
  const remembered = new Map<string, { estimate: Promise<Estimate>; at: number }>();

  async function compute(key: SpendingKey): Promise<Estimate> {
    const recent = await store.readRecentSpending(key, SAMPLE_SIZE);
    return { micros: quantileOf(recent, "micros") ?? defaultMicros, tokens: quantileOf(recent, "tokens") ?? DEFAULT_TOKENS };
  }

  return (key: SpendingKey): Promise<Estimate> => {
    const { tenant, agentId, provider, model } = key;
    const name = JSON.stringify([tenant, agentId, provider, model]);
    const known = remembered.get(name);
    const now = performance.now();
    if (known !== undefined && now - known.at < MAX_AGE_MS) return known.estimate;
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    const estimate = compute(key);
    remembered.set(name, { estimate, at: now });
    estimate.catch(() => remembered.delete(name));
    return estimate;
  };
}

/** Null if no task has used a known amount. */
function quantileOf(recent: readonly Spending[], dimension: keyof Spending): number | null {
  const known = recent.flatMap((task) => task[dimension] ?? []).toSorted((a, b) => a - b);
  return known[Math.ceil(known.length * QUANTILE) - 1] ?? null;
}
