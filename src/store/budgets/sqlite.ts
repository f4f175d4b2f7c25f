import type { TaskIdentity } from "../../task.ts";
import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import type { NewEvent } from "../events/interface.ts";
import type { BudgetAsk, BudgetCounts, BudgetLimit, BudgetStore, BudgetUse, SpendingKey } from "./interface.ts";
import {
  adjust,
  type Change,
  isExceeded,
  largestAsk,
  meter,
  type PartialAmounts,
  type PeriodCounts,
  periodColumns,
  type Reservation,
  type RunTotal,
  reservationColumns,
  reserve,
  settle,
  toAmounts,
  toCounts,
  toEmptyPeriod,
  toPeriod,
  toPeriodRow,
  toReservation,
  UNKNOWN_TOTAL,
  warn,
} from "./rows.ts";

/** What a report or an end has changed. */
interface Outcome {
  /** Warnings, for the log of the task. */
  events: NewEvent[];
  /** A budget that has no room for what the task has used. */
  reached: string | null;
}

/** The operations of budgets. All but `operations` and `forget` run inside an operation that is already running. */
export function createBudgetOperations(driver: SqliteDriver, clock: () => number) {
  let use: BudgetUse = { limitsAt: () => [], onReached() {}, onRoom() {} };
  /** Numbers of the tasks with rows in `task_budget`, so that other tasks cost no statement. A failed operation can leave one too many. */
  const limited = new Set(driver.all("SELECT DISTINCT task FROM task_budget").map(({ task }) => Number(task)));

  const findPeriod = (name: string, startsAt: number): PeriodCounts | undefined => {
    const row = driver.get(`SELECT ${periodColumns} FROM budget_period WHERE name = ? AND starts_at = ?`, name, startsAt);
    return row === undefined ? undefined : toPeriod(row);
  };
  const readPeriod = (limit: BudgetLimit): PeriodCounts => findPeriod(limit.name, limit.startsAt) ?? toEmptyPeriod(limit);
  const keepPeriod = (period: PeriodCounts): void => void driver.run(upsertPeriod, ...Object.values(toPeriodRow(period)));
  const readReservations = (seq: number): Reservation[] =>
    driver.all(`SELECT ${reservationColumns} FROM task_budget WHERE task = ? ORDER BY name`, seq).map(toReservation);

  function keepReservation(seq: number, { name, startsAt, reserved, settled }: Reservation): void {
    driver.run(updateReservation, startsAt, reserved.micros, reserved.tokens, settled.micros, settled.tokens, seq, name);
  }

  /** Changes each reservation that the task holds, and stores the changed periods. */
  function changeHeld(
    seq: number,
    change: (period: PeriodCounts, reservation: Reservation) => Change & { exceedsReservation?: boolean },
  ): Outcome & { changed: Reservation[] } {
    const outcome: Outcome & { changed: Reservation[] } = { events: [], reached: null, changed: [] };
    const limits = use.limitsAt(clock());
    for (const held of readReservations(seq)) {
      if (held.startsAt === null) continue;
      const limit = limits.find(({ name }) => name === held.name);
      const before = findPeriod(held.name, held.startsAt);
      if (before === undefined) continue;
      const { period, reservation, exceedsReservation } = change(before, held);
      const warned = limit === undefined ? { period, events: [] } : warn(period, limit);
      keepPeriod(warned.period);
      outcome.events.push(...warned.events);
      outcome.changed.push(reservation);
      if (limit !== undefined && exceedsReservation === true && isExceeded(period, limit)) outcome.reached = held.name;
    }
    return outcome;
  }

  const { limitsOf, ...reads } = createReads(driver, { readPeriod, limitsAt: (now) => use.limitsAt(now) });
  return {
    /** Stores what a new task asks of budgets. */
    insert(seq: number, asks: readonly BudgetAsk[]): void {
      for (const { name, askMicros, askTokens } of asks) driver.run(insertAsk, seq, name, askMicros, askTokens);
      if (asks.length > 0) limited.add(seq);
    },
    /** The largest asks with which a task may start, as JSON for the claim; null if no budget holds any task back. */
    findLargestAsks(owner: { tenant: string; provider: string }, now: number): string | null {
      if (limited.size === 0) return null;
      const largest = limitsOf(owner, now).map((limit) => ({ name: limit.name, ...largestAsk(readPeriod(limit), limit) }));
      const holding = largest.filter(({ micros, tokens }) => micros !== null || tokens !== null);
      return holding.length === 0 ? null : JSON.stringify(holding.map(({ name, micros, tokens }) => [name, micros, tokens]));
    },
    /** Reserves what a task asks, when it starts. */
    reserve(task: TaskIdentity, now: number): void {
      if (!limited.has(task.seq)) return;
      const limits = use.limitsAt(now);
      for (const asked of readReservations(task.seq)) {
        const limit = limits.find(({ name }) => name === asked.name);
        if (limit === undefined) continue;
        const { period, reservation } = reserve(readPeriod(limit), asked, limit);
        keepPeriod(period);
        keepReservation(task.seq, reservation);
      }
    },
    /** Counts what a running task has used so far. */
    meter(task: TaskIdentity, total: PartialAmounts): Outcome {
      if (!limited.has(task.seq)) return { events: [], reached: null };
      const { changed, ...outcome } = changeHeld(task.seq, (period, reservation) => meter(period, reservation, total));
      for (const reservation of changed) keepReservation(task.seq, reservation);
      return outcome;
    },
    /** Replaces the reservations of a task that ends by what it has used. Returns warnings. */
    settle(task: TaskIdentity, total: RunTotal): NewEvent[] {
      if (!limited.has(task.seq)) return [];
      const { events } = changeHeld(task.seq, (period, reservation) => settle(period, reservation, total));
      driver.run("DELETE FROM task_budget WHERE task = ?", task.seq);
      return events;
    },
    /** Returns the reservations of a task that is queued again; what it has used counts as spent. Returns warnings. */
    release(task: TaskIdentity): NewEvent[] {
      if (!limited.has(task.seq)) return [];
      const { changed, events } = changeHeld(task.seq, (period, reservation) => settle(period, reservation, UNKNOWN_TOTAL));
      for (const reservation of changed) keepReservation(task.seq, reservation);
      return events;
    },
    /** Reports, after the commit, that a task has ended or was queued again. */
    forget({ seq }: TaskIdentity, { isEnded }: { isEnded: boolean }): void {
      if (!limited.has(seq)) return;
      if (isEnded) limited.delete(seq);
      use.onRoom();
    },
    /** Reports, after the commit, that a task has reached the maximum of a budget. */
    announce: (task: TaskIdentity, budget: string): void => use.onReached(task, budget),
    removeExpired: (now: number): number => driver.run("DELETE FROM budget_period WHERE ends_at < ?", now - KEPT_MS),
    operations: {
      ...reads,
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
    } satisfies BudgetStore,
  };
}

interface ReadParts extends Pick<BudgetUse, "limitsAt"> {
  readPeriod(limit: BudgetLimit): PeriodCounts;
}

function createReads(driver: SqliteDriver, { readPeriod, limitsAt }: ReadParts) {
  function countWaiting(limit: BudgetLimit, period: PeriodCounts): number {
    const { micros, tokens } = largestAsk(period, limit);
    if (micros === null && tokens === null) return 0;
    return Number(driver.get(countHeld, limit.name, micros, tokens)?.["tasks"]);
  }

  return {
    /** The budgets that can apply to tasks of a tenant on an adapter. */
    limitsOf: ({ tenant, provider }: { tenant: string; provider: string }, now: number): BudgetLimit[] =>
      limitsAt(now).filter((limit) => (limit.tenant ?? tenant) === tenant && (limit.provider ?? provider) === provider),
    async readBudgets(limits: readonly BudgetLimit[]): Promise<BudgetCounts[]> {
      return limits.map((limit) => {
        const period = readPeriod(limit);
        return toCounts(period, countWaiting(limit, period));
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

const periodNames = periodColumns.split(", ");
const upsertPeriod = `INSERT INTO budget_period (${periodColumns}) VALUES (${periodNames.map(() => "?").join(", ")})
  ON CONFLICT DO UPDATE SET ${periodNames
    .slice(2)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

const insertAsk = "INSERT INTO task_budget (task, name, ask_micros, ask_tokens) VALUES (?, ?, ?, ?)";

const updateReservation = `UPDATE task_budget SET starts_at = ?, reserved_micros = ?, reserved_tokens = ?, settled_micros = ?, settled_tokens = ?
  WHERE task = ? AND name = ?`;

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
