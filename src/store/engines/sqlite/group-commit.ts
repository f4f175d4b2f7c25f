import { BridgeError } from "../../../errors.ts";
import type { WriteOptions } from "../../writes.ts";
import { damageRefusal, isDamage, isStorageFault, type StorageFaults } from "./faults.ts";
import type { Operation, Transactions } from "./transactions.ts";

interface GroupWriteOptions extends WriteOptions {
  /** No caller waits for it: it becomes part of the next commit, at most 10 ms later. */
  lazy?: boolean;
}

/** The queue of writes that wait for the next commit. */
export interface GroupCommit {
  /** Runs `operation` in the next group commit; resolves after COMMIT. It may run twice, so it must do nothing but SQL. */
  write<T>(operation: () => T, options?: GroupWriteOptions): Promise<T>;
  /** Postpones the next commit by one event-loop turn; see `createCommitTimer`. */
  postponeCommit(): void;
  /** Commits what waits. Rejects writes that the disk does not accept, and all later ones. */
  close(): void;
}

/** Bytes of one commit before the rest waits for the next event-loop turn, because a commit blocks the loop until it is on the disk. */
const WRITE_SLICE_BYTES = 512 * 1024;

const LAZY_DELAY_MS = 10;

const FAULT_RETRY_MS = 500;

interface Entry extends Operation {
  patient: boolean;
  bytes: number;
}

/** Collects writes, so that everything written in one event-loop turn shares one commit. */
export function createGroupCommit(transactions: Transactions, faults: StorageFaults): GroupCommit {
  let queue: Entry[] = [];
  /** Entries at the front of the queue that belong to the same turn as the last commit. */
  let rest = 0;
  const timer = createCommitTimer(flush);
  let closed = false;

  function flush(): void {
    timer.clear();
    const batch = takeSlice();
    if (batch.length === 0) return;
    try {
      const results = transactions.run(() => batch.map((entry) => entry.operation()), { isLast: rest === 0 });
      for (const [index, entry] of batch.entries()) entry.resolve(results[index]);
    } catch (error) {
      if (isDamage(error)) runAlone(batch, error);
      else if (isStorageFault(error)) waitForDisk(batch, error);
      else runSingly(batch);
    }
    if (queue.length > 0 && !timer.isRunning) timer.start();
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

  /**
   * An operation that finds a damaged page fails its whole transaction. Each operation gets its own, so that only the
   * failing one waits.
   */
  function runAlone(batch: readonly Entry[], error: unknown): void {
    const waiting = batch.filter((entry) => {
      try {
        entry.resolve(transactions.run(entry.operation, { isLast: true }));
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
      const settlements = transactions.run(() => batch.map(transactions.runBehindSavepoint), { isLast: rest === 0 });
      for (const settle of settlements) settle();
    } catch (error) {
      waitForDisk(batch, error);
    }
  }

  function waitForDisk(batch: readonly Entry[], error: unknown): void {
    rest = 0;
    faults.note(error);
    const refusal = faults.isDamaged
      ? damageRefusal()
      : new BridgeError("storage_unavailable", "Bridge cannot write to its database at the moment.", { cause: error });
    for (const entry of batch) if (!entry.patient || closed) entry.reject(refusal);
    queue = [...batch.filter((entry) => entry.patient && !closed), ...queue];
    if (queue.length > 0) timer.startIn(FAULT_RETRY_MS);
  }

  /** Writes everything, unless the disk is faulty. */
  function flushAll(): void {
    for (let left = Number.POSITIVE_INFINITY; queue.length > 0 && queue.length < left; flush()) left = queue.length;
  }

  return {
    write<T>(operation: () => T, { lazy = false, patient = false, bytes = 0 }: GroupWriteOptions = {}): Promise<T> {
      if (closed) return Promise.reject(new BridgeError("storage_unavailable", "Bridge is stopping."));
      if (faults.isDamaged && !patient) return Promise.reject(damageRefusal());
      return new Promise<T>((resolve, reject) => {
        queue.push({ operation, patient, bytes, resolve: resolve as (value: unknown) => void, reject });
        if (lazy) timer.startIn(LAZY_DELAY_MS);
        else timer.start();
      });
    },
    postponeCommit: timer.postpone,
    close() {
      flushAll();
      closed = true;
      flushAll();
    },
  };
}

/** Maximum number of turns by which a commit is postponed, so that a continuous stream of new clients cannot stop commits. */
const MAX_POSTPONEMENTS = 16;

/** Creates the timer that calls `onDue` when the next commit is due. */
function createCommitTimer(onDue: () => void) {
  let immediate: NodeJS.Immediate | null = null;
  let timeout: NodeJS.Timeout | null = null;
  let isPostponed = false;
  /** Turns by which the next commit was postponed. */
  let postponements = 0;

  function endTurn(): void {
    const isDue = !isPostponed || postponements === MAX_POSTPONEMENTS;
    isPostponed = false;
    if (isDue) {
      onDue();
    } else {
      postponements += 1;
      immediate = setImmediate(endTurn);
    }
  }

  return {
    get isRunning(): boolean {
      return immediate !== null || timeout !== null;
    },
    /** Makes the commit due at the end of this event-loop turn. */
    start(): void {
      immediate ??= setImmediate(endTurn);
    },
    /** Makes the commit due after this time, unless `start` makes it due earlier. */
    startIn(delayMs: number): void {
      if (immediate === null) timeout ??= setTimeout(onDue, delayMs);
    },
    /** Postpones the next commit by one event-loop turn. Calls in successive turns postpone it by at most `MAX_POSTPONEMENTS` turns. */
    postpone(): void {
      isPostponed = true;
    },
    /** Stops the timer until the next `start` or `startIn`. */
    clear(): void {
      if (immediate !== null) clearImmediate(immediate);
      if (timeout !== null) clearTimeout(timeout);
      immediate = null;
      timeout = null;
      postponements = 0;
    },
  };
}
