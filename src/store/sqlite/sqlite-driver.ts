import { statSync } from "node:fs";
import SqliteDatabase, { type Database, type Statement } from "better-sqlite3";
import { BridgeError, StartError } from "../../errors.ts";
import { locateDatabase } from "../data-paths.ts";
import { lockFile } from "../lock-file.ts";
import { type PageCheck, startPageCheck } from "./check-pages.ts";
import { damagedAtStart, damageRefusal, describeDamage, findDamage, isDamage } from "./damage.ts";
import { migrate } from "./migrate.ts";

type Parameter = string | number | null;
/** A row as SQLite returns it. */
export type Row = Record<string, string | number | null>;

/** How a write behaves; see `SqliteDriver.write`. */
interface WriteOptions {
  /** No caller waits for it: it becomes part of the next commit, at most 10 ms later. */
  lazy?: boolean;
  /** Bridge's own work: on a disk fault it waits for the disk, in order, instead of failing. */
  patient?: boolean;
  /** Approximate size of a large write. A commit ends once it has `WRITE_SLICE_BYTES`. */
  bytes?: number;
}

/** Group commits and prepared statements on one SQLite file. */
export interface SqliteDriver {
  /** Runs `operation` in the next group commit; resolves after COMMIT. It may run twice, so it must do nothing but SQL. */
  write<T>(operation: () => T, options?: WriteOptions): Promise<T>;
  get(sql: string, ...parameters: Parameter[]): Row | undefined;
  all(sql: string, ...parameters: Parameter[]): Row[];
  /** The first rows, up to and including the first one for which `enough` returns true. Later rows are not read. */
  allUntil(enough: (row: Row) => boolean, sql: string, ...parameters: Parameter[]): Row[];
  run(sql: string, ...parameters: Parameter[]): number;
  /** Sets what takes part in each transaction. One participant only: the event log. */
  attach(participant: CommitParticipant): void;
  /**
   * Checks a file that is too large for the check at the start, in a worker thread. Resolves when the check ends, with
   * or without a fault.
   */
  checkPages(): Promise<void>;
  close(): Promise<void>;
}

/** How a file is opened. */
interface OpenOptions {
  /** Files up to this size are checked before they are used. */
  checkAtStartBytes?: number;
  /** The disk or the file failed, not the code. */
  onFault(error: unknown): void;
}

/** State in memory that follows the transactions. */
export interface CommitParticipant {
  /** Runs as the last part of each transaction. */
  beforeCommit(): void;
  /** The transaction is durable. If it is not the last one, further commits of the same event-loop turn follow. */
  afterCommit(commit: { isLast: boolean }): void;
  /** The transaction was rolled back; its operations will run again. */
  afterRollback(): void;
  /** Called before a single operation runs; `undo` is called if that operation alone fails. */
  mark(): { undo(): void };
}

/** Bytes of one commit before the rest waits for the next event-loop turn, because a commit blocks the loop until it is on the disk. */
export const WRITE_SLICE_BYTES = 512 * 1024;
/** Size to which the write-ahead log shrinks after a larger commit. */
const WAL_KEPT_BYTES = 8 * 1024 ** 2;
const LAZY_DELAY_MS = 10;
const FAULT_RETRY_MS = 500;
/** The check of such a file takes about 40 ms. A larger file is checked in the background, so that it does not delay the start. */
const CHECK_AT_START_BYTES = 64 * 1024 ** 2;

interface Entry {
  operation: () => unknown;
  patient: boolean;
  bytes: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Opens the database file for this process alone; a second process is rejected. Everything written in one event-loop
 * turn shares one commit.
 */
export function openSqlite(name: string, { checkAtStartBytes = CHECK_AT_START_BYTES, onFault }: OpenOptions): SqliteDriver {
  const file = locateDatabase(name);
  const releaseLock = lockFile(`${file}.lock`, { name: "database", setting: "BRIDGE_DATABASE_URL" });
  const isSmall = sizeOf(file) <= checkAtStartBytes;
  let database: Database;
  try {
    refuseHardLinks(file);
    database = openDatabase(file, isSmall);
  } catch (error) {
    releaseLock();
    throw error;
  }
  const statements = new Map<string, Statement>();
  const prepare = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(keepPlan(sql));
    statements.set(sql, statement);
    return statement;
  };
  const begin = prepare("BEGIN IMMEDIATE");
  const commit = prepare("COMMIT");

  let participant: CommitParticipant = noParticipant;
  let queue: Entry[] = [];
  /** Entries at the front of the queue that belong to the same turn as the last commit. */
  let rest = 0;
  let immediate: NodeJS.Immediate | null = null;
  let timer: NodeJS.Timeout | null = null;
  let closed = false;
  /** Callers cannot write to a damaged file, because their data may be lost. */
  let isDamaged = false;
  let pageCheck: PageCheck | null = null;

  function schedule(lazy: boolean, delayMs = LAZY_DELAY_MS): void {
    if (immediate !== null) return;
    if (!lazy) immediate = setImmediate(flush);
    else timer ??= setTimeout(flush, delayMs);
  }

  function flush(): void {
    if (immediate !== null) clearImmediate(immediate);
    if (timer !== null) clearTimeout(timer);
    immediate = null;
    timer = null;
    const batch = takeSlice();
    if (batch.length === 0) return;
    try {
      const results = transact(() => batch.map((entry) => entry.operation()));
      participant.afterCommit({ isLast: rest === 0 });
      for (const [index, entry] of batch.entries()) entry.resolve(results[index]);
    } catch (error) {
      if (isDamage(error)) runAlone(batch, error);
      else if (isStorageFault(error)) waitForDisk(batch, error);
      else runSingly(batch);
    }
    if (queue.length > 0) schedule(timer !== null);
  }

  /** The entries of the next commit, in order; nearly always all. */
  function takeSlice(): Entry[] {
    if (rest === 0) rest = queue.length;
    let bytes = 0;
    const end = queue.findIndex((entry) => {
      bytes += entry.bytes;
      return bytes >= WRITE_SLICE_BYTES;
    });
    const slice = end === -1 ? queue : queue.slice(0, end + 1);
    queue = end === -1 ? [] : queue.slice(end + 1);
    rest = Math.max(0, rest - slice.length);
    return slice;
  }

  function transact<T>(work: () => T): T {
    begin.run();
    try {
      const result = work();
      participant.beforeCommit();
      commit.run();
      return result;
    } catch (error) {
      // A full disk may have rolled back already.
      if (database.inTransaction) database.exec("ROLLBACK");
      participant.afterRollback();
      throw error;
    }
  }

  /**
   * An operation that finds a damaged page fails its whole transaction. Each operation gets its own, so that only the
   * failing one waits.
   */
  function runAlone(batch: readonly Entry[], error: unknown): void {
    const waiting = batch.filter((entry) => {
      try {
        const result = transact(entry.operation);
        participant.afterCommit({ isLast: true });
        entry.resolve(result);
        return false;
      } catch (error) {
        if (isStorageFault(error)) return true;
        entry.reject(error);
        return false;
      }
    });
    if (waiting.length > 0) waitForDisk(waiting, error);
  }

  /** One operation of the batch failed: runs each one behind its own savepoint, so that only that one fails. */
  function runSingly(batch: readonly Entry[]): void {
    try {
      const settlements = transact(() => batch.map(runBehindSavepoint));
      participant.afterCommit({ isLast: rest === 0 });
      for (const settle of settlements) settle();
    } catch (error) {
      waitForDisk(batch, error);
    }
  }

  function runBehindSavepoint(entry: Entry): () => void {
    const { undo } = participant.mark();
    database.exec("SAVEPOINT operation");
    try {
      const result = entry.operation();
      database.exec("RELEASE operation");
      return () => entry.resolve(result);
    } catch (error) {
      if (isStorageFault(error)) throw error;
      database.exec("ROLLBACK TO operation; RELEASE operation");
      undo();
      return () => entry.reject(error);
    }
  }

  /** Writes everything, unless the disk is faulty. */
  function flushAll(): void {
    for (let left = Number.POSITIVE_INFINITY; queue.length > 0 && queue.length < left; flush()) left = queue.length;
  }

  function waitForDisk(batch: readonly Entry[], error: unknown): void {
    rest = 0;
    noteFault(error);
    const refusal = isDamaged
      ? damageRefusal()
      : new BridgeError("storage_unavailable", "Bridge cannot write to its database at the moment.", { cause: error });
    for (const entry of batch) if (!entry.patient || closed) entry.reject(refusal);
    queue = [...batch.filter((entry) => entry.patient && !closed), ...queue];
    if (queue.length > 0) schedule(true, FAULT_RETRY_MS);
  }

  function noteFault(error: unknown): void {
    isDamaged ||= isDamage(error);
    onFault(error);
  }

  /** The error of a read as its caller gets it. Inside a transaction, the batch handles it. */
  function explainRead(error: unknown): unknown {
    if (database.inTransaction || !isStorageFault(error)) return error;
    noteFault(error);
    return isDamage(error)
      ? damageRefusal()
      : new BridgeError("storage_unavailable", "Bridge cannot read its database at the moment.", { cause: error });
  }

  return {
    write<T>(operation: () => T, { lazy = false, patient = false, bytes = 0 }: WriteOptions = {}): Promise<T> {
      if (closed) return Promise.reject(new BridgeError("storage_unavailable", "Bridge is stopping."));
      if (isDamaged && !patient) return Promise.reject(damageRefusal());
      return new Promise<T>((resolve, reject) => {
        queue.push({ operation, patient, bytes, resolve: resolve as (value: unknown) => void, reject });
        schedule(lazy);
      });
    },
    get(sql, ...parameters) {
      try {
        return prepare(sql).get(...parameters) as Row | undefined;
      } catch (error) {
        throw explainRead(error);
      }
    },
    all(sql, ...parameters) {
      try {
        return prepare(sql).all(...parameters) as Row[];
      } catch (error) {
        throw explainRead(error);
      }
    },
    allUntil(enough, sql, ...parameters) {
      const rows: Row[] = [];
      try {
        for (const row of prepare(sql).iterate(...parameters) as IterableIterator<Row>) {
          rows.push(row);
          if (enough(row)) break;
        }
      } catch (error) {
        throw explainRead(error);
      }
      return rows;
    },
    run: (sql, ...parameters) => prepare(sql).run(...parameters).changes,
    attach(newParticipant) {
      participant = newParticipant;
    },
    async checkPages() {
      if (isSmall || closed) return;
      pageCheck = startPageCheck(file);
      const fault = await pageCheck.fault;
      if (fault !== null) noteFault(new DamagedFileError(describeDamage(file, fault)));
    },
    async close() {
      if (closed) return;
      await pageCheck?.end();
      flushAll();
      closed = true;
      flushAll();
      database.close();
      releaseLock();
    },
  };
}

const noParticipant: CommitParticipant = {
  beforeCommit() {},
  afterCommit() {},
  afterRollback() {},
  mark: () => ({ undo() {} }),
};

/**
 * Rewrites each `?` to `+?`, which has the same value. SQLite (compiled with STAT4) plans a statement again for every
 * value that is bound to a bare `?`, and for a join that takes ten times as long as running it.
 */
const keepPlan = (sql: string): string => sql.replaceAll("?", "+?");

/** A fault that the page check found, with the code that SQLite uses for such errors. */
class DamagedFileError extends Error {
  override readonly name = "DamagedFileError";
  readonly code = "SQLITE_CORRUPT";
}

function openDatabase(file: string, isChecked: boolean): Database {
  // No other process writes to the file. If one does, waiting for it would block the event loop.
  const database = new SqliteDatabase(file, { timeout: 100 });
  try {
    database.pragma("journal_mode = WAL");
    // On every open, because the driver falls back to NORMAL when it reopens a WAL database, and NORMAL can lose acknowledged writes.
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
    database.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
    const fault = isChecked ? findDamage(database) : null;
    if (fault !== null) throw damagedAtStart(file, fault);
    if (Number(database.pragma("synchronous", { simple: true })) !== 2) throw new Error("The database does not accept synchronous=FULL.");
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    if (isNoDatabase(error)) throw noDatabase(file, error);
    throw isDamage(error) ? damagedAtStart(file, (error as Error).message) : error;
  }
}

/** Rejects hard links. SQLite names its log after the path, so a database that is opened under two names is damaged. */
function refuseHardLinks(file: string): void {
  const links = statSync(file, { throwIfNoEntry: false })?.nlink ?? 1;
  if (links === 1) return;
  throw new StartError(
    `Bridge cannot start: the database ${file} has ${links} hard links, so a second Bridge could open it under another name. Remove the other links, or copy the file.`,
  );
}

/** The size on disk, without the write-ahead log, which is small. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** The header of a SQLite database is missing; most often the path names another kind of file. */
const isNoDatabase = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "SQLITE_NOTADB";

const noDatabase = (file: string, cause: unknown): StartError =>
  new StartError(
    `Bridge cannot start: BRIDGE_DATABASE_URL names ${file}, and this file is not a database. Set it to a SQLite database or to a file that does not exist.`,
    { cause },
  );

const faultCodes = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|NOMEM|CANTOPEN|CORRUPT|NOTADB|PROTOCOL)/;

function isStorageFault(error: unknown): boolean {
  return error instanceof Error && "code" in error && faultCodes.test(String(error.code));
}
