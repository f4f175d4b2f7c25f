import type { Database } from "better-sqlite3";
import type { Logger } from "pino";
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

/** The recorded faults of one database file. */
export interface StorageFaults {
  /** Callers cannot write to a damaged file, because their data may be lost. */
  readonly isDamaged: boolean;
  /** Records a fault, and reports it to the operator. */
  note(error: unknown): void;
}

/** Creates the record of faults, which passes each fault to `onFault`. */
export function createStorageFaults(onFault: (error: unknown) => void): StorageFaults {
  let isDamaged = false;
  return {
    get isDamaged() {
      return isDamaged;
    },
    note(error) {
      isDamaged ||= isDamage(error);
      onFault(error);
    },
  };
}

const faultCodes = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|NOMEM|CANTOPEN|CORRUPT|NOTADB|PROTOCOL)/;

/** Whether an error is a fault of the disk or of the database file, and not of a statement. */
export function isStorageFault(error: unknown): boolean {
  return error instanceof Error && "code" in error && faultCodes.test(String(error.code));
}

/** Bridge retries its own writes twice a second while a fault lasts, so the same fault is logged at most once in this time. */
const REPEAT_MS = 60_000;

/** Options; `clock` is for tests. */
interface FaultLogOptions {
  file: string;
  logger: Pick<Logger, "error">;
  clock?: () => number;
}

/** Creates the log of storage faults: damage is logged once, any other fault at most once a minute for each code. */
export function createFaultLog({ file, logger, clock = performance.now.bind(performance) }: FaultLogOptions): (error: unknown) => void {
  const loggedAt = new Map<string, number>();
  let isDamageLogged = false;
  return (error) => {
    if (isDamage(error)) {
      if (!isDamageLogged) logger.error({ err: error, remedy: remedyOf(file) }, "database is damaged; new tasks are rejected");
      isDamageLogged = true;
      return;
    }
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const now = clock();
    if (now - (loggedAt.get(code) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    loggedAt.set(code, now);
    logger.error({ err: error }, "database read or write failed");
  };
}
