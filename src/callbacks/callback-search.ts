import type { CallbackQueue } from "../store/posts/interface.ts";
import type { CallbackOutbox } from "./callback-outbox.ts";
import { createWakeTimer } from "./wake-timer.ts";

/** Pause after a failed read of the store. */
const FAULT_PAUSE_MS = 1000;
/** Maximum time between two searches for due callbacks. Limits the error after the system clock is set back. */
const MAX_SLEEP_MS = 60_000;
/** Other nodes can report due callbacks at any rate. The searches that follow take at most this part of the time. */
const MAX_SEARCH_SHARE = 0.1;

interface CallbackSearchOptions {
  store: Pick<CallbackOutbox, "listDueCallbackQueues" | "nextCallbackInMs">;
  onFault(error: unknown): void;
  /** Called before each search. */
  onBegin(): void;
  /** Called with each queue that has due callbacks. */
  onFound(queue: CallbackQueue): void;
  /** Called after each search, also after a failed one. */
  onEnded(): void;
  /** Shortens the maximum time between two searches. */
  maxSleepMs?: number | undefined;
}

/** Creates the search for due callbacks in the store, which wakes up when the next one is due. */
export function createCallbackSearch({ store, onFault, onBegin, onFound, onEnded, maxSleepMs = MAX_SLEEP_MS }: CallbackSearchOptions) {
  const timer = createWakeTimer(() => void findDueQueues(), Math.min(maxSleepMs, MAX_SLEEP_MS));
  let open = false;
  let isStopped = false;
  let isBacklogKnown = false;
  let isSearching = false;
  /** Whether another node has reported due callbacks during the search. */
  let isReported = false;
  /** When the next search that a report causes may start, by the monotonic clock. */
  let nextSearchAt = 0;

  async function findDueQueues(): Promise<void> {
    onBegin();
    const startedAt = performance.now();
    isSearching = true;
    try {
      // In this order, both reads find a callback that becomes due between them. In the other order, neither would.
      const nextInMs = await store.nextCallbackInMs();
      for (const queue of await store.listDueCallbackQueues()) onFound(queue);
      isBacklogKnown = true;
      wakeIn(nextInMs);
    } catch (error) {
      pauseAfterFault(error);
    }
    const now = performance.now();
    nextSearchAt = now + (now - startedAt) / MAX_SEARCH_SHARE;
    isSearching = false;
    if (isReported) searchSoon();
    onEnded();
  }

  function searchSoon(): void {
    isReported = isSearching;
    if (!isSearching) wakeIn(Math.max(0, nextSearchAt - performance.now()));
  }

  function wakeIn(delayMs: number | null): void {
    if (open) timer.wakeIn(delayMs);
  }

  /** A search that is still under way when the store closes fails, which is no fault. */
  function pauseAfterFault(error: unknown): void {
    if (!isStopped) onFault(error);
    isBacklogKnown = false;
    wakeIn(FAULT_PAUSE_MS);
  }

  return {
    /** Searches now, and from then on whenever a callback is due. */
    start(): void {
      open = true;
      void findDueQueues();
    },
    /** Another node reports due callbacks. */
    searchSoon,
    /** A callback will be due after this delay. */
    wakeIn,
    /** A read of the store has failed. Searches again after a pause. */
    pauseAfterFault,
    /** Whether all queues that had due callbacks at the last read of the store were passed to `onFound`. */
    isBacklogKnown: (): boolean => isBacklogKnown,
    stop(): void {
      open = false;
      isStopped = true;
      timer.cancel();
    },
  };
}
