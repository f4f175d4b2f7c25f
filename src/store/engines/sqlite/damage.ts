import type { Database } from "better-sqlite3";
import { BridgeError, StartError } from "../../../errors.ts";

/** Reads every page; returns the first fault that SQLite finds, or null. Takes about 0.6 s per GB, and the time to read the file. */
export function findDamage(database: Database): string | null {
  try {
    const found = String(database.pragma("quick_check(1)", { simple: true }));
    return found === "ok" ? null : found.replaceAll(/\s+/g, " ");
  } catch (error) {
    if (isDamage(error)) return (error as Error).message;
    throw error;
  }
}

/** Whether an error of SQLite means that the file is damaged, and not that the disk cannot be read or written. */
export const isDamage = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^SQLITE_(CORRUPT|NOTADB)/.test(String(error.code));

/** The error for callers while the database is damaged. It has no cause, because the fault itself is logged once, when it is found. */
export const damageRefusal = (): BridgeError =>
  new BridgeError("storage_unavailable", "Bridge's database is damaged. Its operator has to restore it from a backup.");

/** The error of the start, with the commands that restore the file. */
export const damagedAtStart = (file: string, fault: string): StartError =>
  new StartError(`${describeDamage(file, fault)} ${remedyOf(file)}`);

/** Describes the damage in one sentence. */
export const describeDamage = (file: string, fault: string): string => `The database ${file} is damaged: ${fault.replace(/\.?$/, ".")}`;

/** Instructions to restore the file. */
export const remedyOf = (file: string): string =>
  `Restore a backup: stop Bridge, run npx brg db restore <backup> --force, start Bridge. ` +
  `Without a backup, sqlite3 '${file}' .recover | sqlite3 recovered.db saves what can be read (sqlite3 from sqlite.org; some distributions build it without .recover).`;
