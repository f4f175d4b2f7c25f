import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { StoredEvent } from "../../events/interface.ts";
import type { NodeIdentity } from "../../nodes/interface.ts";
import { abandonAll, type BatchEntry, isOpen } from "./batch-entry.ts";
import {
  type AnyKind,
  type Commit,
  type Marker,
  readTransactionStatus,
  runTransaction,
  type TransactionStatus,
  UnknownCommitError,
} from "./batch-transaction.ts";
import { type Connection, planAsWritten } from "./connection.ts";
import { prepareNumbering } from "./number-events.ts";

/** How often Bridge asks for the outcome of a commit that is still in progress. */
const IN_PROGRESS_RETRY_MS = 20;

/** Options of the commits of a writer. */
export interface BatchCommitsOptions {
  connect(): Promise<Connection>;
  /** All kinds of operations, in the order in which every batch runs them. */
  kinds: readonly AnyKind[];
  /** The node of this process. It starts tasks only while it is a member of the cluster. */
  node: Pick<NodeIdentity, "id" | "incarnation">;
  /**
   * Called after each commit. Must not throw. Null: the events have numbers that are unknown, so the listener has to read the log.
   */
  onEvents?(events: readonly StoredEvent[] | null): void;
  /**
   * Called with the time of each commit, by the clock of the server, before its writes resolve. `askedAt` is when the server was asked for
   * it, by the monotonic clock.
   */
  onTime?(now: number, askedAt: number): void;
  /** Stands in for the clock of the server; for tests. */
  clock?: (() => number) | undefined;
  /** Called when the outcome of a commit was unknown and the server has answered. */
  onSettled?(status: Exclude<TransactionStatus, "in progress">): void;
}

/** How the writer waits for the outcome of a commit. */
export interface OutcomeWait {
  /** Called when the database does not answer. Resolves when it is time to ask again. */
  waitAfterFault(batch: readonly BatchEntry[], error: unknown): Promise<void>;
  /** Whether the outcome is still needed. */
  isNeeded(batch: readonly BatchEntry[]): boolean;
}

/** Creates the commits of a writer: each batch runs in one transaction, and again if its commit took no effect. */
export function createBatchCommits(options: BatchCommitsOptions) {
  const { kinds, node, clock, onEvents = () => {}, onTime = () => {}, onSettled = () => {} } = options;
  const session = createSession(options.connect);
  const markers = createMarkers();

  /** Resolves the entries when they are committed. If it throws, nothing is committed. */
  async function commitBatch(batch: readonly BatchEntry[], wait: OutcomeWait): Promise<void> {
    for (let left = batch.filter(isOpen); left.length > 0; left = left.filter(isOpen)) {
      const commit = await tryCommit(left, wait);
      if (commit === null) continue;
      onTime(commit.now, commit.askedAt);
      for (const [index, entry] of left.entries()) entry.resolve(commit.outputs[index]);
      onEvents(commit.events);
    }
  }

  /** Returns null if the transaction was aborted in a way that allows to run it again at once. */
  async function tryCommit(batch: readonly BatchEntry[], wait: OutcomeWait): Promise<Commit | null> {
    const connection = await session.open();
    const marker = markers.next();
    try {
      const commit = await runTransaction(connection, { kinds, operations: batch, marker, node, clock });
      markers.confirm(marker);
      return commit;
    } catch (error) {
      if (!(error instanceof UnknownCommitError)) throw error;
      session.close();
      const ask = async () => readTransactionStatus(await session.open(), error.transaction);
      const status = await readOutcome(ask, {
        waitAfterFault: (fault) => wait.waitAfterFault(batch, fault),
        isNeeded: () => wait.isNeeded(batch),
      });
      if (status !== null) onSettled(status);
      if (status !== "committed") return abandonAll(batch);
      markers.confirm(marker);
      return error.commit;
    }
  }

  return {
    commitBatch,
    /** Closes the connection. The next commit opens another one. */
    disconnect: session.close,
  };
}

/**
 * Asks for the outcome of a commit until the server knows it. Returns null when the outcome is not needed any more.
 * `waitAfterFault` resolves when it is time to ask again.
 */
async function readOutcome(
  ask: () => Promise<TransactionStatus>,
  { waitAfterFault, isNeeded }: { waitAfterFault(error: unknown): Promise<void>; isNeeded(): boolean },
): Promise<"committed" | "aborted" | null> {
  while (isNeeded()) {
    try {
      const status = await ask();
      if (status !== "in progress") return status;
      await delay(IN_PROGRESS_RETRY_MS);
    } catch (error) {
      await waitAfterFault(error);
    }
  }
  return null;
}

/** Numbers the transactions of a writer. */
function createMarkers() {
  const writer = randomUUID();
  let number = 0;
  let previous = 0;
  return {
    next(): Marker {
      number += 1;
      return { writer, number, previous };
    },
    confirm(marker: Marker): void {
      previous = marker.number;
    },
  };
}

/** The one connection of the writer, opened when it is needed. */
function createSession(connect: () => Promise<Connection>) {
  let connection: Connection | null = null;
  const close = (): void => {
    connection?.close();
    connection = null;
  };
  return {
    async open(): Promise<Connection> {
      if (connection?.isLost === true) close();
      if (connection === null) {
        connection = await connect();
        await connection.query(`${planAsWritten}; ${prepareNumbering}`);
      }
      return connection;
    },
    close,
  };
}
