import type { TaskIdentity } from "../../task.ts";
import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import type { BudgetCounts, BudgetLimit, BudgetStore, BudgetUse, SpendingKey } from "./interface.ts";
import { adjust, largestAsk, type PeriodCounts, toAmounts, toCounts } from "./rows.ts";
import { createReservations } from "./sqlite-reservations.ts";

/** The operations of budgets. `reservations` are for operations of tasks. */
export function createBudgetOperations(driver: SqliteDriver, clock: () => number) {
  let use: BudgetUse = { limitsAt: () => [], onReached() {}, onRoom() {} };
  const reservations = createReservations(driver, { clock, limitsAt: (now) => use.limitsAt(now) });
  const { readPeriod, keepPeriod, isLimited } = reservations;

  return {
    reservations,
    /** Reports, after the commit, that a task has ended or was queued again. */
    announceEnd(task: TaskIdentity, { isQueued } = { isQueued: false }): void {
      if (!isLimited(task)) return;
      if (!isQueued) reservations.forget(task);
      use.onRoom();
    },
    /** Reports, after the commit, that a task has reached the maximum of a budget. */
    announceReached: (task: TaskIdentity, budget: string): void => use.onReached(task, budget),
    /** Deletes expired periods, inside an operation that is already running. */
    removeExpired: (now: number): number => reservations.removePeriods(now - KEPT_MS),
    operations: {
      ...createReads(driver, readPeriod),
      useBudgets(given) {
        use = given;
      },
      async adjustBudget(limit, { spentMicros, by, reason }) {
        const adjusted = await driver.write(() => {
          const before = readPeriod(limit);
          const period = adjust(before, limit, spentMicros);
          keepPeriod(period);
          driver.run(insertAdjustment, limit.name, limit.startsAt, clock(), by, reason, before.spent.micros, spentMicros);
          return period;
        });
        use.onRoom();
        return toCounts(adjusted, 0);
      },
    } satisfies Omit<BudgetStore, "meterIfRunning">,
  };
}

function createReads(driver: SqliteDriver, readPeriod: (limit: BudgetLimit) => PeriodCounts) {
  function countWaiting(limit: BudgetLimit, period: PeriodCounts): number {
    const { micros, tokens } = largestAsk(period, limit);
    if (micros === null && tokens === null) return 0;
    return Number(driver.get(countHeld, limit.name, micros, tokens)?.["tasks"]);
  }

  return {
    async readBudgets(limits: readonly BudgetLimit[], { countsWaiting } = { countsWaiting: false }): Promise<BudgetCounts[]> {
      return limits.map((limit) => {
        const period = readPeriod(limit);
        return toCounts(period, countsWaiting ? countWaiting(limit, period) : 0);
      });
    },
    async readRecentSpending({ tenant, agentId, provider, model }: SpendingKey, limit: number) {
      const rows: Row[] = driver.all(selectRecent, tenant, agentId, MAX_EXAMINED, provider, model, model, limit);
      return rows.map((row) =>
        toAmounts({ costUsd: row["cost_usd"] as number | null, usage: row["usage"] === null ? null : JSON.parse(String(row["usage"])) }),
      );
    },
    listTaskBudgets: async (seq: number): Promise<string[]> =>
      driver.all("SELECT name FROM task_budget WHERE task = ? ORDER BY name", seq).map(({ name }) => String(name)),
  };
}

/** Periods are kept as long as the rows of usage. */
const KEPT_MS = 400 * 86_400_000;

/** Tasks of an agent that one estimate examines. */
const MAX_EXAMINED = 500;

/** Queued tasks that a budget holds back. Children wait for no budget. */
const countHeld = `SELECT count(*) AS tasks FROM task_budget b CROSS JOIN task t ON t.seq = b.task
  WHERE b.name = ? AND b.starts_at IS NULL AND t.state = 'queued' AND t.parent_seq IS NULL
    AND (max(1, b.ask_micros - b.settled_micros) > ? OR max(1, b.ask_tokens - b.settled_tokens) > ?)`;

const selectRecent = `SELECT s.cost_usd, s.usage
  FROM (SELECT seq AS examined FROM task WHERE tenant = ? AND agent_id = ? ORDER BY seq DESC LIMIT ?)
  CROSS JOIN task t ON t.seq = examined CROSS JOIN task_summary s ON s.task = examined
  WHERE t.provider = ? AND t.finished_at IS NOT NULL AND (? IS NULL OR s.model = ?) AND (s.cost_usd IS NOT NULL OR s.usage IS NOT NULL)
  ORDER BY examined DESC LIMIT ?`;

const insertAdjustment = `INSERT INTO budget_adjustment (name, starts_at, at, adjusted_by, reason, from_micros, to_micros)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
