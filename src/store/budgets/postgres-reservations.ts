import type { Transaction } from "../engines/postgres/operation-kind.ts";
import { toColumns } from "../engines/postgres/statements.ts";
import type { NewEvent } from "../events/interface.ts";
import type { BudgetAsk, BudgetLimit, LimitsAt } from "./interface.ts";
import {
  type Change,
  isExceeded,
  largestAsk,
  limitsOf,
  type PartialAmounts,
  type PeriodCounts,
  periodColumns,
  type Reservation,
  reservationColumns,
  reserve,
  toEmptyPeriod,
  toPeriod,
  toPeriodRow,
  toReservation,
  warn,
} from "./rows.ts";

/** Stores what new tasks ask of budgets. */
export async function insertAsks(rows: readonly (BudgetAsk & { task: number })[], transaction: Transaction): Promise<void> {
  if (rows.length === 0) return;
  const asked = rows.map(({ task, name, askMicros, askTokens }) => ({ task, name, ask_micros: askMicros, ask_tokens: askTokens }));
  await transaction.query(insertAskRows, toColumns(["task", "name", "ask_micros", "ask_tokens"], asked));
}

const insertAskRows = {
  name: "insert_budget_asks",
  text: `INSERT INTO task_budget (task, name, ask_micros, ask_tokens)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])`,
};

/** A reservation of a task. */
interface Held {
  task: number;
  reservation: Reservation;
}

/** What reports or ends have changed for a task. */
export interface BudgetOutcome {
  /** Warnings, for the log of the task. */
  events: NewEvent[];
  /** A budget that has no room for what the task has used. */
  reached: string | null;
}

/** A change of the reservations of a running task. */
export interface HeldChange {
  task: number;
  change(period: PeriodCounts, reservation: Reservation): Change & { exceedsReservation?: boolean };
}

/**
 * Changes the reservations of running tasks, in their order. The batch must hold the locks of their budgets (`budgetsOf`). `isEnd`: the
 * tasks end, and their rows are deleted. Returns one outcome for each change.
 */
export async function changeReservations(
  changes: readonly HeldChange[],
  { limitsAt, isEnd }: { limitsAt: LimitsAt; isEnd: boolean },
  transaction: Transaction,
): Promise<BudgetOutcome[]> {
  if (changes.length === 0) return [];
  const limits = new Map(limitsAt(transaction.now).map((limit) => [limit.name, limit]));
  const held = await readReservations([...new Set(changes.map(({ task }) => task))], transaction);
  const periods = await readPeriods(held, transaction);
  const outcomes = changes.map(({ task, change }) => {
    const outcome: BudgetOutcome = { events: [], reached: null };
    for (const one of held) {
      const { startsAt, name } = one.reservation;
      const before = one.task !== task || startsAt === null ? undefined : periods.get(keyOf({ name, startsAt }));
      if (before === undefined) continue;
      const { period, reservation, exceedsReservation } = change(before, one.reservation);
      const limit = limits.get(name);
      const warned = limit === undefined ? { period, events: [] } : warn(period, limit);
      one.reservation = reservation;
      periods.set(keyOf(period), warned.period);
      outcome.events.push(...warned.events);
      if (limit !== undefined && exceedsReservation === true && isExceeded(period, limit)) outcome.reached = name;
    }
    return outcome;
  });
  await Promise.all([
    storePeriods([...periods.values()], transaction),
    isEnd ? transaction.query(deleteReservations, [changes.map(({ task }) => task)]) : storeReservations(held, transaction),
  ]);
  return outcomes;
}

/** Identifies a period. */
export const keyOf = ({ name, startsAt }: Pick<PeriodCounts, "name" | "startsAt">): string => `${name} ${startsAt}`;

async function readReservations(tasks: readonly number[], transaction: Transaction): Promise<Held[]> {
  const rows = await transaction.query(selectReservations, [tasks]);
  return rows.map((row) => ({ task: Number(row["task"]), reservation: toReservation(row) }));
}

const selectReservations = {
  name: "select_reservations",
  text: `SELECT task, ${reservationColumns} FROM task_budget WHERE task = ANY ($1::bigint[]) ORDER BY task, name`,
};

/** Reads the periods of reservations; those that do not exist are missing. */
async function readPeriods(held: readonly Held[], transaction: Transaction): Promise<Map<string, PeriodCounts>> {
  const wanted = held.flatMap(({ reservation: { name, startsAt } }) => (startsAt === null ? [] : [{ name, startsAt }]));
  if (wanted.length === 0) return new Map();
  const rows = await transaction.query(selectPeriods, [wanted.map(({ name }) => name), wanted.map(({ startsAt }) => startsAt)]);
  return new Map(rows.map(toPeriod).map((period) => [keyOf(period), period]));
}

/** Selects periods by their names and starts, which are arrays. */
export const periodsOf = `SELECT ${periodColumns} FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::bigint[])) AS given (name, starts_at)
  JOIN budget_period USING (name, starts_at)`;

/** Selects periods in a transaction. */
export const selectPeriods = { name: "select_budget_periods", text: periodsOf };

const periodNames = periodColumns.split(", ") as (keyof ReturnType<typeof toPeriodRow>)[];

/** Stores periods. */
export async function storePeriods(periods: readonly PeriodCounts[], transaction: Transaction): Promise<void> {
  if (periods.length > 0) await transaction.query(upsertPeriods, toColumns(periodNames, periods.map(toPeriodRow)));
}

const typeOf = (name: string): string => (name === "name" ? "text" : name === "warned" ? "double precision" : "bigint");

const upsertPeriods = {
  name: "upsert_budget_periods",
  text: `INSERT INTO budget_period (${periodColumns})
    SELECT * FROM unnest(${periodNames.map((name, index) => `$${index + 1}::${typeOf(name)}[]`).join(", ")})
    ON CONFLICT (name, starts_at) DO UPDATE SET ${periodNames
      .slice(2)
      .map((name) => `${name} = excluded.${name}`)
      .join(", ")}`,
};

async function storeReservations(held: readonly Held[], transaction: Transaction): Promise<void> {
  if (held.length === 0) return;
  const rows = held.map(({ task, reservation: { name, startsAt, reserved, settled } }) => ({
    ...{ task, name, starts_at: startsAt, reserved_micros: reserved.micros, reserved_tokens: reserved.tokens },
    ...{ settled_micros: settled.micros, settled_tokens: settled.tokens },
  }));
  const names = ["task", "name", "starts_at", "reserved_micros", "reserved_tokens", "settled_micros", "settled_tokens"] as const;
  await transaction.query(updateReservations, toColumns(names, rows));
}

const updateReservations = {
  name: "update_reservations",
  text: `UPDATE task_budget b SET starts_at = given.starts_at, reserved_micros = given.reserved_micros, reserved_tokens = given.reserved_tokens,
      settled_micros = given.settled_micros, settled_tokens = given.settled_tokens
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
      AS given (task, name, starts_at, reserved_micros, reserved_tokens, settled_micros, settled_tokens)
    WHERE b.task = given.task AND b.name = given.name`,
};

const deleteReservations = { name: "delete_reservations", text: "DELETE FROM task_budget WHERE task = ANY ($1::bigint[])" };

/** The largest asks with which a task may start, as columns of name, cost and tokens. */
export type LargestAsks = [string[], (number | null)[], (number | null)[]];

/** The reservations of the tasks that the claims of a batch start. */
export interface StartLedger {
  /** Null if no budget holds any task back. */
  findLargestAsks(owner: { tenant: string; provider: string }): LargestAsks | null;
  /** Reserves what a started task asks. */
  reserve(task: number): Promise<void>;
  /** Stores all reservations. */
  store(): Promise<void>;
}

/** Reads the budgets for the claims of a batch, which must hold the locks of the budgets (`budgetsOf`). */
export async function openStartLedger(limits: readonly BudgetLimit[], transaction: Transaction): Promise<StartLedger> {
  const keys = [limits.map(({ name }) => name), limits.map(({ startsAt }) => startsAt)];
  const rows = limits.length === 0 ? [] : await transaction.query(selectPeriods, keys);
  const stored = new Map(rows.map(toPeriod).map((period) => [period.name, period]));
  const changed = new Map<string, PeriodCounts>();
  const reserved: Held[] = [];
  const periodOf = (limit: BudgetLimit): PeriodCounts => changed.get(limit.name) ?? stored.get(limit.name) ?? toEmptyPeriod(limit);
  return {
    findLargestAsks(owner) {
      const largest = limitsOf(owner, limits).map((limit) => ({ name: limit.name, ...largestAsk(periodOf(limit), limit) }));
      const holding = largest.filter(({ micros, tokens }) => micros !== null || tokens !== null);
      if (holding.length === 0) return null;
      return [holding.map(({ name }) => name), holding.map(({ micros }) => micros), holding.map(({ tokens }) => tokens)];
    },
    async reserve(task) {
      for (const { reservation: asked } of await readReservations([task], transaction)) {
        const limit = limits.find(({ name }) => name === asked.name);
        if (limit === undefined) continue;
        const { period, reservation } = reserve(periodOf(limit), asked, limit);
        changed.set(limit.name, period);
        reserved.push({ task, reservation });
      }
    },
    async store() {
      await Promise.all([storePeriods([...changed.values()], transaction), storeReservations(reserved, transaction)]);
    },
  };
}

/** Whether all budgets have room for the task `q`. The parameters are the columns of `LargestAsks`. */
export const fitsBudgets = ([name, micros, tokens]: readonly [string, string, string]): string => `NOT EXISTS (
  SELECT 1 FROM task_budget b JOIN unnest(${name}::text[], ${micros}::bigint[], ${tokens}::bigint[]) AS allowed (name, micros, tokens)
    ON allowed.name = b.name
  WHERE b.task = q.seq AND (${needOf("micros")} > allowed.micros OR ${needOf("tokens")} > allowed.tokens))`;

/** What the row `b` of a queued task needs. */
export const needOf = (dimension: keyof PartialAmounts): string =>
  `CASE WHEN b.ask_${dimension} IS NOT NULL THEN greatest(1, b.ask_${dimension} - b.settled_${dimension}) END`;

/** What a queued task `t` needs of budgets, as JSON. */
export const budgetNeeds = `(SELECT json_agg(json_build_array(b.name, ${needOf("micros")}, ${needOf("tokens")}) ORDER BY b.name)::text
  FROM task_budget b WHERE b.task = t.seq)`;
