import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { sleep } from "@hak2i/async-kit";
import { BridgeError } from "../../../errors.ts";
import type { WriteOptions } from "../../writes.ts";
import { type BatchCommitsOptions, createBatchCommits, type OutcomeWait } from "./batch-commits.ts";
import { type BatchEntry, hasSameKey, isOpen, rejectAll, toEntry } from "./batch-entry.ts";
import { createBatchPace, lengthOfBatch } from "./batch-limits.ts";
import { classifyFault } from "./connection.ts";
import type { OperationKind } from "./operation-kind.ts";

/** How often Bridge tries again while the database is unavailable. */
const UNAVAILABLE_RETRY_MS = 500;

/** Writes operations to PostgreSQL in batches: while one batch is under way, or for some ms if the writer is busy, the next one gathers. */
export interface BatchWriter {
  /** Runs the operation in the next batch. Resolves when it is durable. It may run several times, but takes effect once. */
  write<Input, Output>(kind: OperationKind<Input, Output>, input: Input, options?: WriteOptions): Promise<Output>;
  /** Writes what is left, unless the database is unavailable, and ends the connection. */
  close(): Promise<void>;
}

/** Options of a batch writer. */
export interface BatchWriterOptions extends BatchCommitsOptions {
  /** Called when the database is unavailable. Bridge's own writes wait for it. */
  onFault?(error: unknown): void;
}

/** Creates the writer of a node. It connects with its first write, and again after it has lost its connection. */
export function createBatchWriter(options: BatchWriterOptions): BatchWriter {
  const { kinds, onFault = () => {} } = options;
  const commits = createBatchCommits(options);
  const pace = createBatchPace();
  const pause = createPause();
  let queue: BatchEntry[] = [];
  let running: Promise<void> | null = null;
  let isClosing = false;

  async function run(): Promise<void> {
    // The writes of one event-loop turn share a batch.
    await nextTurn();
    while (queue.length > 0) {
      if (!isClosing && pace.pauseMs() > 0) await delay(pace.pauseMs());
      const batch = queue.splice(0, lengthOfBatch(queue, kinds));
      pace.note(batch.length);
      await runBatch(batch);
    }
    running = null;
  }

  async function runBatch(batch: readonly BatchEntry[]): Promise<void> {
    try {
      await commits.commitBatch(batch, outcomeWait);
    } catch (error) {
      const fault = classifyFault(error);
      if (fault === "unavailable") await waitForDatabase(batch, error);
      else if (fault === "operation" && batch.length === 1) rejectAll(batch, error);
      else await runSingly(batch);
    }
  }

  /** An operation of the batch failed, or another transaction was in the way. With a transaction each, only the faulty ones fail. */
  async function runSingly(batch: readonly BatchEntry[]): Promise<void> {
    const blocked: BatchEntry[] = [];
    let cause: unknown;
    for (const [index, entry] of batch.entries()) {
      const isBlocked = blocked.some((earlier) => hasSameKey(earlier, entry));
      const error = isBlocked ? cause : await errorOf(commits.commitBatch([entry], outcomeWait));
      if (error === null) continue;
      const fault = classifyFault(error);
      if (fault === "unavailable") return waitForDatabase([...blocked, ...batch.slice(index)], error);
      if (fault === "operation") entry.reject(error);
      else blocked.push(entry);
      if (fault === "contention") cause = error;
    }
    if (blocked.length > 0) postpone(blocked, cause);
  }

  const outcomeWait: OutcomeWait = {
    async waitAfterFault(batch, error) {
      for (const entry of batch.filter(isOpen).filter(isImpatient)) entry.rejectUnconfirmed(error);
      await waitForDatabase([], error);
    },
    isNeeded: (batch) => !isClosing || batch.some(isOpen),
  };

  /** Rejects all impatient writes, and tries the others again later. */
  async function waitForDatabase(batch: readonly BatchEntry[], error: unknown): Promise<void> {
    rejectAll(queue.filter(isImpatient), unavailable(error));
    postpone(batch, error);
    commits.disconnect();
    await pause.wait(UNAVAILABLE_RETRY_MS);
  }

  /** Rejects the impatient writes of a batch, and puts the others at the front of the queue. */
  function postpone(batch: readonly BatchEntry[], error: unknown): void {
    onFault(error);
    rejectAll(batch.filter(isImpatient), unavailable(error));
    queue = [...batch, ...queue].filter(isOpen);
  }

  /** While Bridge stops, no write waits for an unavailable database. */
  const isImpatient = (entry: BatchEntry): boolean => !entry.patient || isClosing;

  return {
    write<Input, Output>(kind: OperationKind<Input, Output>, input: Input, { patient = false, bytes = 0 }: WriteOptions = {}) {
      if (isClosing) return Promise.reject(new BridgeError("storage_unavailable", "Bridge is stopping."));
      if (pause.isWaiting() && !patient) return Promise.reject(unavailable(null));
      return new Promise<Output>((resolve, reject) => {
        queue.push(toEntry({ kind, input, patient, bytes }, { resolve: resolve as (output: unknown) => void, reject }));
        running ??= run();
      });
    },
    async close() {
      isClosing = true;
      pause.end();
      await running;
      commits.disconnect();
    },
  };
}

const errorOf = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

const unavailable = (cause: unknown): BridgeError =>
  new BridgeError("storage_unavailable", "Bridge cannot write to its database at the moment.", { cause });

/** A wait that `end` cuts short, now and later. */
function createPause() {
  const ended = new AbortController();
  let isWaiting = false;
  return {
    isWaiting: () => isWaiting,
    async wait(ms: number): Promise<void> {
      isWaiting = true;
      await sleep(ms, ended.signal).catch(() => {});
      isWaiting = false;
    },
    end: () => ended.abort(),
  };
}
