import type { Transaction } from "../engines/postgres/operation-kind.ts";
import { toColumns } from "../engines/postgres/statements.ts";
import type { NewEvent } from "../events/interface.ts";
import type { BudgetLimit, LimitsAt } from "./interface.ts";
import {
  type Change,
  encodeNeeds,
  hasRoomFor,
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
  toReservationRow,
  warn,
} from "./rows.ts";

/** Stores the reservations of new tasks. */
export async function insertReservations(held: readonly Held[], transaction: Transaction): Promise<void> {
  if (held.length === 0) return;
  const rows = held.map(({ task, reservation }) => ({ task, ...toReservationRow(reservation) }));
  await transaction.query(insertRows, toColumns(["task", ...insertedColumns], rows));
}

/** The columns of a new reservation, which has settled nothing. */
const insertedColumns = ["name", "ask_micros", "ask_tokens", "starts_at", "reserved_micros", "reserved_tokens", "last_starts_at"] as const;

const insertRows = {
  name: "insert_reservations",
  text: `INSERT INTO task_budget (task, ${insertedColumns.join(", ")})
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])`,
};

/** A reservation of a task. */
export interface Held {
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
 * Changes the reservations of running tasks, in their order. The batch must hold the locks of their budgets (`budgetsOf`). `next`: whether
 * the tasks still run, end, or return to the queue. Returns one outcome for each change.
 */
export async function changeReservations(
  changes: readonly HeldChange[],
  { limitsAt, next }: { limitsAt: LimitsAt; next: "running" | "ended" | "queued" },
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
    next === "ended" ? transaction.query(deleteReservations, [changes.map(({ task }) => task)]) : storeReservations(held, transaction),
    next === "queued" ? storeNeeds(held, transaction) : null,
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
  const rows = held.map(({ task, reservation }) => ({ task, ...toReservationRow(reservation) }));
  await transaction.query(updateReservations, toColumns(["task", "name", ...changingColumns], rows));
}

const changingColumns = [
  ...(["starts_at", "reserved_micros", "reserved_tokens", "settled_micros", "settled_tokens"] as const),
  ...(["last_starts_at", "earlier_micros", "earlier_tokens"] as const),
];

const updateReservations = {
  name: "update_reservations",
  text: `UPDATE task_budget b SET ${changingColumns.map((name) => `${name} = given.${name}`).join(", ")}
    FROM unnest($1::bigint[], $2::text[], ${changingColumns.map((_, index) => `$${index + 3}::bigint[]`).join(", ")})
      AS given (task, name, ${changingColumns.join(", ")})
    WHERE b.task = given.task AND b.name = given.name`,
};

/** Stores what tasks that return to the queue need. Children wait for no budget. */
async function storeNeeds(held: readonly Held[], transaction: Transaction): Promise<void> {
  const tasks = Map.groupBy(held, ({ task }) => task);
  const rows = [...tasks].map(([task, all]) => ({ task, needs: toNeeds(all.map(({ reservation }) => reservation)) }));
  if (rows.length > 0) await transaction.query(updateNeeds, toColumns(["task", "needs"], rows));
}

const updateNeeds = {
  name: "update_needs",
  text: `UPDATE task t SET budget_needs = given.needs FROM unnest($1::bigint[], $2::text[]) AS given (task, needs)
    WHERE t.seq = given.task AND t.parent_seq IS NULL`,
};

/** The longest value of `budget_needs`, because an entry of an index has a limit. Tasks with longer needs are compared one by one. */
const MAX_NEEDS_LENGTH = 1_000;

/** The value of `budget_needs`. */
export function toNeeds(reservations: readonly Reservation[]): string {
  const needs = encodeNeeds(reservations);
  return Buffer.byteLength(needs) > MAX_NEEDS_LENGTH ? NO_NEEDS : needs;
}

const NO_NEEDS = "[]";

const deleteReservations = { name: "delete_reservations", text: "DELETE FROM task_budget WHERE task = ANY ($1::bigint[])" };

/** The largest asks with which a task may start, as columns of name, cost and tokens. */
export type LargestAsks = [string[], (number | null)[], (number | null)[]];

/** The reservations of the tasks that a batch starts. */
export interface StartLedger {
  /** Null if no budget holds any task back. */
  findLargestAsks(owner: { tenant: string; provider: string }): LargestAsks | null;
  /** Whether all budgets have room for what a new task asks. */
  haveRoom(asked: readonly Reservation[]): boolean;
  /** Reserves what a new task asks. Returns its reservations, which the caller stores. */
  reserveNew(asked: readonly Reservation[]): Reservation[];
  /** Reserves what a stored task asks. */
  reserve(task: number): Promise<void>;
  /** A ledger with the same counts, to find out which tasks can start together. */
  copy(): StartLedger;
  /** Stores the periods, and the reservations of stored tasks. */
  store(): Promise<void>;
}

/** Reads the budgets for the starts of a batch, which must hold the locks of the budgets (`budgetsOf`). */
export async function openStartLedger(limits: readonly BudgetLimit[], transaction: Transaction): Promise<StartLedger> {
  const keys = [limits.map(({ name }) => name), limits.map(({ startsAt }) => startsAt)];
  const rows = limits.length === 0 ? [] : await transaction.query(selectPeriods, keys);
  return createStartLedger(limits, new Map(rows.map(toPeriod).map((period) => [period.name, period])), transaction);
}

function createStartLedger(
  limits: readonly BudgetLimit[],
  stored: ReadonlyMap<string, PeriodCounts>,
  transaction: Transaction,
): StartLedger {
  const changed = new Map<string, PeriodCounts>();
  const held: Held[] = [];
  const periodOf = (limit: BudgetLimit): PeriodCounts => changed.get(limit.name) ?? stored.get(limit.name) ?? toEmptyPeriod(limit);
  const limitOf = (asked: Reservation): BudgetLimit | undefined => limits.find(({ name }) => name === asked.name);
  const reserveNew = (asked: readonly Reservation[]): Reservation[] =>
    asked.map((one) => {
      const limit = limitOf(one);
      if (limit === undefined) return one;
      const { period, reservation } = reserve(periodOf(limit), one, limit);
      changed.set(limit.name, period);
      return reservation;
    });
  return {
    findLargestAsks(owner) {
      const largest = limitsOf(owner, limits).map((limit) => ({ name: limit.name, ...largestAsk(periodOf(limit), limit) }));
      const holding = largest.filter(({ micros, tokens }) => micros !== null || tokens !== null);
      if (holding.length === 0) return null;
      return [holding.map(({ name }) => name), holding.map(({ micros }) => micros), holding.map(({ tokens }) => tokens)];
    },
    haveRoom: (asked) =>
      asked.every((one) => {
        const limit = limitOf(one);
        return limit === undefined || hasRoomFor(one, periodOf(limit), limit);
      }),
    reserveNew,
    async reserve(task) {
      const asked = (await readReservations([task], transaction)).map(({ reservation }) => reservation);
      held.push(...reserveNew(asked).map((reservation) => ({ task, reservation })));
    },
    copy: () => createStartLedger(limits, new Map([...stored, ...changed]), transaction),
    async store() {
      await Promise.all([storePeriods([...changed.values()], transaction), storeReservations(held, transaction)]);
    },
  };
}

/** The columns of `LargestAsks`, as a table. */
export const allowedBy = ([name, micros, tokens]: readonly [string, string, string]): string =>
  `unnest(${name}::text[], ${micros}::bigint[], ${tokens}::bigint[]) AS allowed (name, micros, tokens)`;

/** True if the row of the task `q` contains `budget_needs` or no budgets; otherwise whether the budgets in `allowed` have room. */
export const fitsByRows = `(q.budgets IS NULL OR q.budget_needs <> '${NO_NEEDS}' OR NOT EXISTS (
  SELECT 1 FROM task_budget b JOIN allowed ON allowed.name = b.name
  WHERE b.task = q.seq AND (${needOf("micros")} > allowed.micros OR ${needOf("tokens")} > allowed.tokens)))`;

/** Whether the budgets in the table `allowed` have room for the value of `budget_needs` in this column. */
export const fitsNeeds = (needs: string): string => `NOT EXISTS (
  SELECT 1 FROM jsonb_array_elements(${needs}::jsonb) AS one JOIN allowed ON allowed.name = one ->> 0
  WHERE (one ->> 1)::bigint > allowed.micros OR (one ->> 2)::bigint > allowed.tokens)`;

/** What the row `b` of a queued task needs. */
export function needOf(dimension: keyof PartialAmounts): string {
  return `CASE WHEN b.ask_${dimension} IS NOT NULL THEN greatest(1, b.ask_${dimension} - b.settled_${dimension}) END`;
}

/** What a queued task `t` needs of budgets, as JSON. */
export const budgetNeeds = `(SELECT json_agg(json_build_array(b.name, ${needOf("micros")}, ${needOf("tokens")}) ORDER BY b.name)::text
  FROM task_budget b WHERE b.task = t.seq)`;
