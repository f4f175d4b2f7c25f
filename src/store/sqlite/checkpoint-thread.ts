import { parentPort, workerData } from "node:worker_threads";
import SqliteDatabase from "better-sqlite3";

/** The worker thread of `checkpoints.ts`. It answers each message when it has copied the write-ahead log, or has failed to. */
const database = new SqliteDatabase(workerData);
database.pragma("synchronous = FULL");

parentPort?.on("message", () => {
  try {
    database.pragma("wal_checkpoint(PASSIVE)");
  } catch {
    // Such as a full disk. The log stays as it is, and the connection that writes to it reports the fault.
  }
  parentPort?.postMessage(null);
});
