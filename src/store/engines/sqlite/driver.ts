import type { Statement } from "better-sqlite3";
import { BridgeError } from "../../../errors.ts";
import { type PageCheck, startPageCheck } from "./check-pages.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { openDatabaseFile } from "./database-file.ts";
import { createStorageFaults, damageRefusal, describeDamage, isDamage, isStorageFault } from "./faults.ts";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";
import { createTransactions, type Transactions } from "./transactions.ts";

type Parameter = string | number | null;

/** A row as SQLite returns it. */
export type Row = Record<string, string | number | null>;

/** Group commits and prepared statements on one SQLite file. */
export interface SqliteDriver extends Pick<GroupCommit, "write" | "postponeCommit">, Pick<Transactions, "attach"> {
  get(sql: string, ...parameters: Parameter[]): Row | undefined;
  all(sql: string, ...parameters: Parameter[]): Row[];
  /** The first rows, up to and including the first one for which `enough` returns true. Later rows are not read. */
  allUntil(enough: (row: Row) => boolean, sql: string, ...parameters: Parameter[]): Row[];
  run(sql: string, ...parameters: Parameter[]): number;
  /**
   * Checks a file that is too large for the check at the start, in a child process. Resolves when the check ends, with
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

/** Opens the database file for this process alone; a second process is rejected. */
export function openDriver(name: string, { checkAtStartBytes, onFault }: OpenOptions): SqliteDriver {
  const { file, database, isChecked, close: closeDatabase } = openDatabaseFile(name, checkAtStartBytes);
  const faults = createStorageFaults(onFault);
  const checkpoints = createCheckpoints(database, file);
  const transactions = createTransactions(database, checkpoints.startIfDue);
  const commits = createGroupCommit(transactions, faults);
  const statements = new Map<string, Statement>();
  let pageCheck: PageCheck | null = null;
  let closed = false;

  function prepare(sql: string): Statement {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(keepPlan(sql));
    statements.set(sql, statement);
    return statement;
  }

  /** The error of a read as its caller gets it. Inside a transaction, the batch handles it. */
  function explainRead(error: unknown): unknown {
    if (database.inTransaction || !isStorageFault(error)) return error;
    faults.note(error);
    return isDamage(error)
      ? damageRefusal()
      : new BridgeError("storage_unavailable", "Bridge cannot read its database at the moment.", { cause: error });
  }

  return {
    write(operation, options) {
      if (options?.bytes !== undefined) checkpoints.countWrite(options.bytes);
      return commits.write(operation, options);
    },
    postponeCommit: commits.postponeCommit,
    attach: transactions.attach,
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
    run(sql, ...parameters) {
      checkpoints.countWrite();
      return prepare(sql).run(...parameters).changes;
    },
    async checkPages() {
      if (isChecked || closed) return;
      pageCheck = startPageCheck(file);
      const fault = await pageCheck.fault;
      if (fault !== null) faults.note(new DamagedFileError(describeDamage(file, fault)));
    },
    async close() {
      if (closed) return;
      await pageCheck?.end();
      commits.close();
      closed = true;
      await checkpoints.close();
      closeDatabase();
    },
  };
}

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

/** Characters that one read loads, give or take one row, because many readers may hold a page each. */
const READ_LENGTH = 1024 * 1024;

/** Creates the test for `allUntil` that stops a read when a column's texts together are long enough. */
export function createLengthLimit(column: string, enough = READ_LENGTH): (row: Row) => boolean {
  let length = 0;
  return (row) => {
    length += String(row[column] ?? "").length;
    return length >= enough;
  };
}
