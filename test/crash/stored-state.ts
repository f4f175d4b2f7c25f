import SqliteDatabase from "better-sqlite3";
import type { ExecutionResult } from "#contract";
import type { TaskState } from "../../src/task.ts";

export interface StoredTask {
  seq: number;
  key: string;
  tenant: string;
  taskId: string;
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

/** Reads the state without changing the file. */
export function readStoredState(databaseFile: string): StoredState {
  const database = new SqliteDatabase(databaseFile, { readonly: true });
  try {
    const all = <Row>(sql: string): Row[] => database.prepare(sql).all() as Row[];
    const tasks = all<Omit<StoredTask, "key" | "result"> & { result: string | null }>(
      "SELECT seq, tenant, id AS taskId, state, restarts, result FROM task ORDER BY seq",
    );
    const callbacks = all<{ task: number; state: string; attempts: number }>("SELECT task, state, attempts FROM callback");
    return {
      integrity: [
        ...all<{ integrity_check: string }>("PRAGMA integrity_check").map((row) => row.integrity_check),
        ...all<{ table: string }>("PRAGMA foreign_key_check").map((row) => `a row of ${row.table} refers to nothing`),
      ].filter((line) => line !== "ok"),
      lastNumber: readLastNumber(database),
      tasks: tasks.map((row) => ({
        ...row,
        key: `${row.tenant}/${row.taskId}`,
        result: row.result === null ? null : JSON.parse(row.result),
      })),
      events: all("SELECT e.number, e.task, t.tenant, e.type, e.data FROM event e JOIN task t ON t.seq = e.task ORDER BY e.number"),
      callbacks: new Map(callbacks.map(({ task, ...callback }) => [task, callback])),
    };
  } finally {
    database.close();
  }
}

function readLastNumber(database: SqliteDatabase.Database): number {
  return Number((database.prepare("SELECT value FROM counter WHERE name = 'event'").get() as { value: number }).value);
}
