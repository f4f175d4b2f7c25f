import SqliteDatabase from "better-sqlite3";
import { connect } from "../../src/store/engines/postgres/connection.ts";
import type { TaskState } from "../../src/task.ts";

/** The stored counts of one period of a budget. Amounts are millionths of a US dollar, and tokens. */
export interface StoredPeriod {
  name: string;
  startsAt: number;
  spentMicros: number;
  spentTokens: number;
  reservedMicros: number;
  reservedTokens: number;
  estimatedMicros: number;
  estimatedTokens: number;
}

/** What a task has asked of a budget, and holds of it. */
export interface StoredReservation {
  task: number;
  name: string;
  askMicros: number | null;
  askTokens: number | null;
  /** The period in which the task has reserved; null: none. */
  startsAt: number | null;
  reservedMicros: number;
  reservedTokens: number;
  settledMicros: number;
  settledTokens: number;
}

/** What a task has spent. */
export interface SpendingTask {
  seq: number;
  tenant: string;
  /** The number of its parent; null if it was dispatched. */
  parent: number | null;
  state: TaskState;
  costUsd: number | null;
  /** JSON. */
  usage: string | null;
  /** The data of its last event `usage.reported`, as JSON. */
  reported: string | null;
}

/** All that is stored about spending, read directly from the database. */
export interface StoredSpending {
  periods: readonly StoredPeriod[];
  reservations: readonly StoredReservation[];
  tasks: readonly SpendingTask[];
}

const selectPeriods = `SELECT name, starts_at AS "startsAt", spent_micros AS "spentMicros", spent_tokens AS "spentTokens",
  reserved_micros AS "reservedMicros", reserved_tokens AS "reservedTokens", estimated_micros AS "estimatedMicros",
  estimated_tokens AS "estimatedTokens" FROM budget_period ORDER BY name, starts_at`;
const selectReservations = `SELECT task, name, ask_micros AS "askMicros", ask_tokens AS "askTokens", starts_at AS "startsAt",
  reserved_micros AS "reservedMicros", reserved_tokens AS "reservedTokens", settled_micros AS "settledMicros",
  settled_tokens AS "settledTokens" FROM task_budget ORDER BY task, name`;
const selectTasks = `SELECT seq, tenant, parent_seq AS parent, state, cost_usd AS "costUsd", usage,
    (SELECT data FROM event WHERE event.task = seq AND type = 'usage.reported' ORDER BY number DESC LIMIT 1) AS reported
  FROM task`;
const selectSqliteTasks = `${selectTasks} LEFT JOIN task_summary ON task_summary.task = seq`;

/** Reads what is stored in a SQLite file, which Bridge may have left without closing it. */
export function readSqliteSpending(databaseFile: string): StoredSpending {
  const database = new SqliteDatabase(databaseFile, { readonly: true });
  try {
    const all = <Row>(sql: string): Row[] => database.prepare(sql).all() as Row[];
    return database.transaction(() => ({
      periods: all<StoredPeriod>(selectPeriods),
      reservations: all<StoredReservation>(selectReservations),
      tasks: all<SpendingTask>(selectSqliteTasks),
    }))();
  } finally {
    database.close();
  }
}

/** Reads what is stored in a PostgreSQL database, as of one moment. */
export async function readPostgresSpending(url: string): Promise<StoredSpending> {
  const connection = await connect({ url });
  try {
    const all = async <Row>(sql: string): Promise<Row[]> => (await connection.query(sql)).rows as unknown as Row[];
    await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return {
      periods: await all<StoredPeriod>(selectPeriods),
      reservations: await all<StoredReservation>(selectReservations),
      tasks: await all<SpendingTask>(selectTasks),
    };
  } finally {
    connection.close();
  }
}
