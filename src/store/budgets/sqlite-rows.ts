import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import {
  type PeriodCounts,
  periodColumns,
  type Reservation,
  reservationColumns,
  toPeriod,
  toPeriodRow,
  toReservation,
  toReservationRow,
} from "./rows.ts";

/**
 * Caches the budget rows that operations read and change. A transaction reads each row at most once, and its end writes all changed rows of
 * a table with one statement. Periods and the reservations of running tasks stay in memory, because no other process changes them.
 */
export function createBudgetRows(driver: SqliteDriver) {
  let periods = createChanges<string, PeriodCounts>();
  /** By task. An empty list deletes the rows of the task. */
  let reservations = createChanges<number, readonly Reservation[]>();

  driver.attach({
    beforeCommit() {
      const changed = [...periods.changed].map((key) => Object.values(toPeriodRow(periods.known.get(key) as PeriodCounts)));
      if (changed.length > 0) driver.run(upsertPeriods, JSON.stringify(changed));
      if (reservations.changed.size > 0) storeReservations(driver, reservations);
    },
    afterCommit() {
      periods.changed.clear();
      if (periods.known.size > MAX_PERIODS) periods.known.clear();
      for (const task of reservations.changed) if (!isRunning(reservations.known.get(task))) reservations.known.delete(task);
      reservations.changed.clear();
    },
    afterRollback() {
      periods = createChanges();
      reservations = createChanges();
    },
    mark() {
      const [earlierPeriods, earlierReservations] = [copy(periods), copy(reservations)];
      return {
        undo() {
          periods = earlierPeriods;
          reservations = earlierReservations;
        },
      };
    },
  });

  return {
    /** Reads a period; undefined if nothing was reserved or spent in it. */
    findPeriod(name: string, startsAt: number): PeriodCounts | undefined {
      const key = keyOf({ name, startsAt });
      const known = periods.known.get(key);
      if (known !== undefined) return known;
      const row = driver.get(selectPeriod, name, startsAt);
      if (row === undefined) return undefined;
      const period = toPeriod(row);
      periods.known.set(key, period);
      return period;
    },
    keepPeriod(period: PeriodCounts): void {
      const key = keyOf(period);
      periods.known.set(key, period);
      periods.changed.add(key);
    },
    readReservations: (task: number): readonly Reservation[] =>
      reservations.known.get(task) ?? driver.all(selectReservations, task).map(toReservation),
    /** Replaces the reservations of a task. An empty list deletes them. */
    keepReservations(task: number, changed: readonly Reservation[]): void {
      reservations.known.set(task, changed);
      reservations.changed.add(task);
    },
    /** Deletes the periods that have ended before a time, inside an operation that is already running. */
    removePeriods(endedBefore: number): number {
      for (const [key, { endsAt }] of periods.known) if (endsAt < endedBefore && !periods.changed.has(key)) periods.known.delete(key);
      return driver.run("DELETE FROM budget_period WHERE ends_at < ?", endedBefore);
    },
  };
}

/** Periods that stay in memory after a commit. Each budget has one that changes often. */
const MAX_PERIODS = 1_000;

/** Rows by their key, and the keys of those that the transaction has changed. */
interface Changes<Key, Value> {
  readonly known: Map<Key, Value>;
  readonly changed: Set<Key>;
}

const createChanges = <Key, Value>(): Changes<Key, Value> => ({ known: new Map(), changed: new Set() });

const copy = <Key, Value>({ known, changed }: Changes<Key, Value>): Changes<Key, Value> => ({
  known: new Map(known),
  changed: new Set(changed),
});

const keyOf = ({ name, startsAt }: Pick<PeriodCounts, "name" | "startsAt">): string => `${name} ${startsAt}`;

const isRunning = (reservations: readonly Reservation[] = []): boolean => reservations.some(({ startsAt }) => startsAt !== null);

function storeReservations(driver: SqliteDriver, { known, changed }: Changes<number, readonly Reservation[]>): void {
  const kept: unknown[] = [];
  const deleted: number[] = [];
  for (const task of changed) {
    const reservations = known.get(task) ?? [];
    if (reservations.length === 0) deleted.push(task);
    for (const reservation of reservations) kept.push([task, ...Object.values(toReservationRow(reservation))]);
  }
  if (kept.length > 0) driver.run(upsertReservations, JSON.stringify(kept));
  if (deleted.length > 0) driver.run(deleteReservations, JSON.stringify(deleted));
}

const selectPeriod = `SELECT ${periodColumns} FROM budget_period WHERE name = ? AND starts_at = ?`;

const selectReservations = `SELECT ${reservationColumns} FROM task_budget WHERE task = ? ORDER BY name`;

/** Inserts or replaces rows that are given as JSON. The first `keys` columns are the primary key. */
function toUpsert(table: string, columns: readonly string[], keys: number): string {
  const values = columns.map((_, index) => `value ->> ${index}`).join(", ");
  const updates = columns.slice(keys).map((column) => `${column} = excluded.${column}`);
  // Without WHERE, SQLite would read ON as the condition of a join.
  return `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values} FROM json_each(?) WHERE true
    ON CONFLICT DO UPDATE SET ${updates.join(", ")}`;
}

const upsertPeriods = toUpsert("budget_period", periodColumns.split(", "), 2);

const upsertReservations = toUpsert("task_budget", ["task", ...reservationColumns.split(", ")], 2);

const deleteReservations = "DELETE FROM task_budget WHERE task IN (SELECT value FROM json_each(?))";
