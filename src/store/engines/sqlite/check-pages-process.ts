import SqliteDatabase from "better-sqlite3";
import { findDamage } from "./faults.ts";

const database = new SqliteDatabase(process.argv[2], { readonly: true });
process.stdout.write(findDamage(database) ?? "");
database.close();
