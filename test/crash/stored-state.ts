import SqliteDatabase from "better-sqlite3";
import type { ExecutionResult } from "#contract";
import { connect } from "../../src/store/engines/postgres/connection.ts";
import type { TaskState } from "../../src/task.ts";

export interface StoredTask {
  seq: number;
  key: string;
  tenant: string;
  taskId: string;
  /** Null for a dispatched task. */
  parentId: string | null;
  state: TaskState;
  restarts: number;
  result: ExecutionResult | null;
}

export interface StoredEventRow {
  number: number;
  task: number;
  tenant: string;
  type: string;
  data: string;
}

/** Bridge's stored state, read directly from the database file. */
export interface StoredState {
  integrity: string[];
  lastNumber: number;
  tasks: StoredTask[];
  events: StoredEventRow[];
  /** State of each task's callback, by the task's seq. */
  callbacks: Map<number, { state: string; attempts: number }>;
}

const selectTasks = 'SELECT seq, tenant, id AS "taskId", parent_id AS "parentId", state, restarts, result FROM task ORDER BY seq';
const selectCallbacks = "SELECT task, state, attempts FROM callback";
const selectEvents = "SELECT e.number, e.task, t.tenant, e.type, e.data FROM event e JOIN task t ON t.seq = e.task ORDER BY e.number";

type TaskRow = Omit<StoredTask, "key" | "result"> & { result: string | null };
type CallbackRow = { task: number; state: string; attempts: number };

/** Reads the state without changing the file. */
export function readStoredState(databaseFile: string): StoredState {
  const database = new SqliteDatabase(databaseFile, { readonly: true });
  try {
    const all = <Row>(sql: string): Row[] => database.prepare(sql).all() as Row[];
    return {
      integrity: [
        ...all<{ integrity_check: string }>("PRAGMA integrity_check").map((row) => row.integrity_check),
        ...all<{ table: string }>("PRAGMA foreign_key_check").map((row) => `a row of ${row.table} refers to nothing`),
      ].filter((line) => line !== "ok"),
      lastNumber: all<{ value: number }>("SELECT value FROM counter WHERE name = 'event'")[0]?.value ?? 0,
      tasks: all<TaskRow>(selectTasks).map(toStoredTask),
      events: all(selectEvents),
      callbacks: toCallbackMap(all<CallbackRow>(selectCallbacks)),
    };
  } finally {
    database.close();
  }
}

/** Reads the state from a PostgreSQL database, which checks its own pages. */
export async function readPostgresState(url: string): Promise<StoredState> {
  const connection = await connect({ url });
  try {
    const all = async <Row>(sql: string): Promise<Row[]> => (await connection.query(sql)).rows as unknown as Row[];
    const [last] = await all<{ number: number }>("SELECT coalesce(max(number), 0) AS number FROM event");
    return {
      integrity: [],
      lastNumber: last?.number ?? 0,
      tasks: (await all<TaskRow>(selectTasks)).map(toStoredTask),
      events: await all(selectEvents),
      callbacks: toCallbackMap(await all<CallbackRow>(selectCallbacks)),
    };
  } finally {
    connection.close();
  }
}

const toStoredTask = (row: TaskRow): StoredTask => ({
  ...row,
  key: `${row.tenant}/${row.taskId}`,
  result: row.result === null ? null : JSON.parse(row.result),
});

const toCallbackMap = (rows: CallbackRow[]): StoredState["callbacks"] => new Map(rows.map(({ task, ...callback }) => [task, callback]));
