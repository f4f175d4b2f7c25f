import { createHook } from "node:async_hooks";
import { isMainThread } from "node:worker_threads";
import SqliteDatabase from "better-sqlite3";

/** Counts of a server since its start. This file is loaded with `--import`; the server answers every IPC message with its counts. */
export interface Counts {
  promises: number;
  /** SQL statements executed through better-sqlite3. */
  statements: number;
}

const counts: Counts = { promises: 0, statements: 0 };
createHook({
  init(_id, type) {
    if (type === "PROMISE") counts.promises += 1;
  },
}).enable();

const database = new SqliteDatabase(":memory:");
const prototype = Object.getPrototypeOf(database.prepare("SELECT 1")) as Record<string, (...parameters: unknown[]) => unknown>;
database.close();
for (const method of ["run", "get", "all", "iterate"]) {
  const original = prototype[method];
  prototype[method] = function (...parameters) {
    counts.statements += 1;
    return original?.apply(this, parameters);
  };
}

if (isMainThread) {
  process.on("message", () => process.send?.(counts));
  // An open channel would keep the process alive.
  process.once("SIGTERM", () => process.disconnect());
}
