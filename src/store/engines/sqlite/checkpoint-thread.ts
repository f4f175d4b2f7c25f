import { parentPort, workerData } from "node:worker_threads";
import SqliteDatabase from "better-sqlite3";

/**
 * The worker thread of `checkpoints.ts`. It answers the message "copy" when it has copied the write-ahead log, or has failed to. It ends at
 * the message "close".
 */
const database = new SqliteDatabase(workerData);
database.pragma("synchronous = FULL");

parentPort?.on("message", (message: "copy" | "close") => {
  if (message === "close") {
    database.close();
    parentPort?.close();
    return;
  }
  try {
    database.pragma("wal_checkpoint(PASSIVE)");
  } catch {
    // Such as a full disk. The log stays as it is, and the connection that writes to it reports the fault.
  }
  parentPort?.postMessage(null);
});
