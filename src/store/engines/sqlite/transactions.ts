import type { Database } from "better-sqlite3";
import { isStorageFault } from "./faults.ts";

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

/** One write of a transaction, and the functions that settle its promise. */
export interface Operation {
  operation: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Runs the transactions of a database. */
export interface Transactions {
  /** Runs `work` and commits. If either fails, rolls back and throws. */
  run<T>(work: () => T, commit: { isLast: boolean }): T;
  /**
   * Runs one operation within `run`, behind a savepoint: if it fails, only its own writes are undone. Returns a
   * function that settles it, for after the commit. Throws if the disk failed.
   */
  runBehindSavepoint(operation: Operation): () => void;
  /** Adds what takes part in each transaction. */
  attach(participant: CommitParticipant): void;
}

/** Prepares the transactions of a database. Calls `onCommit` after each of them. */
export function createTransactions(database: Database, onCommit: () => void): Transactions {
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const participants: CommitParticipant[] = [];

  return {
    run<T>(work: () => T, { isLast }: { isLast: boolean }): T {
      begin.run();
      let result: T;
      try {
        result = work();
        for (const participant of participants) participant.beforeCommit();
        commit.run();
      } catch (error) {
        // A full disk may have rolled back already.
        if (database.inTransaction) database.exec("ROLLBACK");
        for (const participant of participants) participant.afterRollback();
        throw error;
      }
      for (const participant of participants) participant.afterCommit({ isLast });
      onCommit();
      return result;
    },
    runBehindSavepoint({ operation, resolve, reject }) {
      const marks = participants.map((participant) => participant.mark());
      database.exec("SAVEPOINT operation");
      try {
        const result = operation();
        database.exec("RELEASE operation");
        return () => resolve(result);
      } catch (error) {
        if (isStorageFault(error)) throw error;
        database.exec("ROLLBACK TO operation; RELEASE operation");
        for (const { undo } of marks) undo();
        return () => reject(error);
      }
    },
    attach(participant) {
      participants.push(participant);
    },
  };
}
