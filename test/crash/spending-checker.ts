import type { NormalizedUsage } from "#contract";
import { isFinal, type Spent } from "../../src/task.ts";
import type { SpendingTask, StoredPeriod, StoredReservation, StoredSpending } from "./stored-spending.ts";
import { newestOf, type TestBudget, testBudgets, usedOf } from "./test-budgets.ts";

/** The maximum of each budget, by its name, in its own unit: millionths of a US dollar, or tokens. */
export type Maxima = ReadonlyMap<string, number>;

/**
 * Checks that the counts of budgets are what tasks have spent and reserved, and that no budget is reserved above its maximum. It holds at
 * every moment, also after a kill. Returns one line for each violation.
 */
export function checkSpending(stored: StoredSpending, maxima: Maxima): string[] {
  return [
    ...stored.periods.flatMap((period) => checkReserved(period, stored.reservations)),
    ...testBudgets.flatMap((budget) => checkSpent(budget, stored)),
    ...testBudgets.flatMap((budget) => checkMaximum(budget, stored.periods, maxima)),
    ...checkHolders(stored),
  ];
}

/** Checks that nothing is reserved when all tasks have ended. */
export function checkReleased({ periods, reservations }: StoredSpending): string[] {
  return [
    ...periods
      .filter(({ reservedMicros, reservedTokens }) => reservedMicros > 0 || reservedTokens > 0)
      .map(
        ({ name, reservedMicros, reservedTokens }) => `budget: ${name} still reserves ${reservedMicros} micros, ${reservedTokens} tokens`,
      ),
    ...(reservations.length === 0 ? [] : [`budget: ${reservations.length} rows of ended tasks are left`]),
  ];
}

/** The queued tasks for which a budget had no room. */
export function countHeld({ periods, reservations }: StoredSpending, maxima: Maxima): number {
  const held = reservations.filter(({ name, startsAt, askMicros, askTokens }) => {
    const budget = testBudgets.find((one) => one.name === name);
    if (budget === undefined || startsAt !== null) return false;
    const ask = (budget.unit === "micros" ? askMicros : askTokens) ?? 0;
    return usedOf(budget, newestOf(budget, periods)) + ask > (maxima.get(name) ?? Number.POSITIVE_INFINITY);
  });
  return new Set(held.map(({ task }) => task)).size;
}

const sum = <Item>(items: readonly Item[], amountOf: (item: Item) => number): number =>
  items.reduce((total, item) => total + amountOf(item), 0);

function checkReserved(period: StoredPeriod, reservations: readonly StoredReservation[]): string[] {
  const held = reservations.filter(({ name, startsAt }) => name === period.name && startsAt === period.startsAt);
  const micros = sum(held, ({ reservedMicros }) => reservedMicros);
  const tokens = sum(held, ({ reservedTokens }) => reservedTokens);
  return micros === period.reservedMicros && tokens === period.reservedTokens
    ? []
    : [
        `budget: ${period.name} reserves ${period.reservedMicros} micros, ${period.reservedTokens} tokens; its tasks hold ${micros} and ${tokens}`,
      ];
}

/**
 * Spent is the sum of the usage of ended tasks, the usage so far of the others, and the estimates. A parent's usage includes its children.
 */
function checkSpent({ name, tenant }: TestBudget, { periods, reservations, tasks }: StoredSpending): string[] {
  const own = periods.filter((period) => period.name === name);
  const ended = tasks.filter((task) => task.parent === null && isFinal(task.state) && (tenant === null || task.tenant === tenant));
  const used = ended.map((task) => usedBy(task, tasks));
  const unended = reservations.filter((reservation) => reservation.name === name);
  const expected = {
    micros: sum(used, ({ micros }) => micros) + sum(unended, ({ settledMicros }) => settledMicros) + sum(own, (one) => one.estimatedMicros),
    tokens: sum(used, ({ tokens }) => tokens) + sum(unended, ({ settledTokens }) => settledTokens) + sum(own, (one) => one.estimatedTokens),
  };
  const spent = { micros: sum(own, ({ spentMicros }) => spentMicros), tokens: sum(own, ({ spentTokens }) => spentTokens) };
  return spent.micros === expected.micros && spent.tokens === expected.tokens
    ? []
    : [`budget: ${name} counts ${JSON.stringify(spent)} as spent, but its tasks have spent ${JSON.stringify(expected)}`];
}

/** What a task has used. If the cost or usage is unknown, the reports of the task and its children count. */
function usedBy(task: SpendingTask, tasks: readonly SpendingTask[]): { micros: number; tokens: number } {
  const reported: Pick<Spent, "usage" | "costUsd"> | null =
    task.reported === null ? null : (JSON.parse(task.reported) as { total: Spent }).total;
  const children = task.parent === null ? tasks.filter(({ parent }) => parent === task.seq).map((child) => usedBy(child, tasks)) : [];
  const usage = task.usage === null ? null : (JSON.parse(task.usage) as NormalizedUsage);
  return {
    micros: task.costUsd === null ? toMicros(reported) + sum(children, ({ micros }) => micros) : toMicros(task),
    tokens: usage === null ? toTokens(reported?.usage) + sum(children, ({ tokens }) => tokens) : toTokens(usage),
  };
}

const toMicros = (spent: Pick<Spent, "costUsd"> | null): number => Math.round((spent?.costUsd ?? 0) * 1e6);

const toTokens = (usage: NormalizedUsage | null | undefined): number => (usage ? usage.inputTokens + usage.outputTokens : 0);

/** No task spends more than it has reserved, so spending cannot exceed a maximum either. */
function checkMaximum(budget: TestBudget, periods: readonly StoredPeriod[], maxima: Maxima): string[] {
  const maximum = maxima.get(budget.name) ?? Number.POSITIVE_INFINITY;
  // The room was chosen for the newest period.
  const used = usedOf(budget, newestOf(budget, periods));
  return used <= maximum ? [] : [`budget: ${budget.name} has spent and reserved ${used} ${budget.unit}, and permits ${maximum}`];
}

function checkHolders({ reservations, tasks }: StoredSpending): string[] {
  const states = new Map(tasks.map(({ seq, state }) => [seq, state]));
  return reservations.flatMap(({ task, name, startsAt }) => {
    const state = states.get(task) ?? "absent";
    const isRight = startsAt === null ? state === "queued" : state === "running";
    return isRight ? [] : [`budget: the task ${task} is ${state}, and ${startsAt === null ? "has asked" : "has reserved"} in ${name}`];
  });
}
