import { parentPort, workerData } from "node:worker_threads";
import SqliteDatabase from "better-sqlite3";
import { findDamage } from "./damage.ts";

const database = new SqliteDatabase(String(workerData), { readonly: true });
parentPort?.postMessage(findDamage(database));
database.close();
