import type { TaskIdentity } from "../../task.ts";
import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import type { NewEvent } from "../events/interface.ts";
import type { BudgetAsk, BudgetLimit, LimitsAt } from "./interface.ts";
import {
  type Change,
  isExceeded,
  largestAsk,
  limitsOf,
  meter,
  type PartialAmounts,
  type PeriodCounts,
  periodColumns,
  type Reservation,
  type RunTotal,
  reservationColumns,
  reserve,
  settle,
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

/** Creates the reservations of tasks. All changes run inside an operation that is already running. */
export function createReservations(driver: SqliteDriver, { clock, limitsAt }: { clock: () => number; limitsAt: LimitsAt }) {
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
    const limits = limitsAt(clock());
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

  return {
    /** Stores what a new task asks of budgets. */
    insert(seq: number, asks: readonly BudgetAsk[]): void {
      for (const { name, askMicros, askTokens } of asks) driver.run(insertAsk, seq, name, askMicros, askTokens);
      if (asks.length > 0) limited.add(seq);
    },
    /** The largest asks with which a task may start, as JSON for the claim; null if no budget holds any task back. */
    findLargestAsks(owner: { tenant: string; provider: string }, now: number): string | null {
      if (limited.size === 0) return null;
      const largest = limitsOf(owner, limitsAt(now)).map((limit) => ({ name: limit.name, ...largestAsk(readPeriod(limit), limit) }));
      const holding = largest.filter(({ micros, tokens }) => micros !== null || tokens !== null);
      return holding.length === 0 ? null : JSON.stringify(holding.map(({ name, micros, tokens }) => [name, micros, tokens]));
    },
    /** Reserves what a task asks, when it starts. */
    reserve(task: TaskIdentity, now: number): void {
      if (!limited.has(task.seq)) return;
      const limits = limitsAt(now);
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
    release(task: TaskIdentity, total: RunTotal = UNKNOWN_TOTAL): NewEvent[] {
      if (!limited.has(task.seq)) return [];
      const { changed, events } = changeHeld(task.seq, (period, reservation) => settle(period, reservation, total));
      for (const reservation of changed) keepReservation(task.seq, reservation);
      return events;
    },
    /** Whether budgets apply to a task that has not ended. */
    isLimited: ({ seq }: TaskIdentity): boolean => limited.has(seq),
    /** Call it after the commit that ends a task. */
    forget: ({ seq }: TaskIdentity): void => void limited.delete(seq),
    readPeriod,
    keepPeriod,
  };
}

const periodNames = periodColumns.split(", ");
const upsertPeriod = `INSERT INTO budget_period (${periodColumns}) VALUES (${periodNames.map(() => "?").join(", ")})
  ON CONFLICT DO UPDATE SET ${periodNames
    .slice(2)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

const insertAsk = "INSERT INTO task_budget (task, name, ask_micros, ask_tokens) VALUES (?, ?, ?, ?)";

const updateReservation = `UPDATE task_budget SET starts_at = ?, reserved_micros = ?, reserved_tokens = ?, settled_micros = ?, settled_tokens = ?
  WHERE task = ? AND name = ?`;
