import type { DuePost, PostQueue } from "../store/posts/interface.ts";
import type { Outbox } from "./outbox.ts";

/** Pause after a failed read of the outbox. */
const FAULT_PAUSE_MS = 1000;
/** Maximum time between two searches for due posts. Limits the error after the system clock is set back. */
const MAX_SLEEP_MS = 60_000;
/** Other nodes can report due posts at any rate. The searches that follow take at most this part of the time. */
const MAX_SEARCH_SHARE = 0.1;

interface DueSearchOptions {
  outbox: Pick<Outbox<DuePost>, "listDueQueues" | "nextInMs">;
  onFault(error: unknown): void;
  /** Called before each search. */
  onBegin(): void;
  /** Called with each queue that has due posts. */
  onFound(queue: PostQueue): void;
  /** Called after each search, also after a failed one. */
  onEnded(): void;
  /** Shortens the maximum time between two searches. */
  maxSleepMs?: number | undefined;
}

/** Creates the search for due posts in the outbox, which wakes up when the next one is due. */
export function createDueSearch({ outbox, onFault, onBegin, onFound, onEnded, maxSleepMs = MAX_SLEEP_MS }: DueSearchOptions) {
  const timer = createWakeTimer(() => void findDueQueues(), Math.min(maxSleepMs, MAX_SLEEP_MS));
  let open = false;
  let isStopped = false;
  let isBacklogKnown = false;
  let isSearching = false;
  /** Whether another node has reported due posts during the search. */
  let isReported = false;
  /** When the next search that a report causes may start, by the monotonic clock. */
  let nextSearchAt = 0;

  async function findDueQueues(): Promise<void> {
    onBegin();
    const startedAt = performance.now();
    isSearching = true;
    try {
      // In this order, both reads find a post that becomes due between them. In the other order, neither would.
      const nextInMs = await outbox.nextInMs();
      for (const queue of await outbox.listDueQueues()) onFound(queue);
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

  /** A search that is still under way when the outbox closes fails, which is no fault. */
  function pauseAfterFault(error: unknown): void {
    if (!isStopped) onFault(error);
    isBacklogKnown = false;
    wakeIn(FAULT_PAUSE_MS);
  }

  return {
    /** Searches now, and from then on whenever a post is due. */
    start(): void {
      open = true;
      void findDueQueues();
    },
    /** Another node reports due posts. */
    searchSoon,
    /** A post will be due after this delay. */
    wakeIn,
    /** A read of the outbox has failed. Searches again after a pause. */
    pauseAfterFault,
    /** Whether all queues that had due posts at the last read of the outbox were passed to `onFound`. */
    isBacklogKnown: (): boolean => isBacklogKnown,
    stop(): void {
      open = false;
      isStopped = true;
      timer.cancel();
    },
  };
}

/** Creates a timer that calls the action at the earliest of the requested times, at the latest after `maxDelayMs`. */
function createWakeTimer(action: () => void, maxDelayMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  return {
    /** Requests a call after this delay; null means the maximum delay. */
    wakeIn(delayMs: number | null): void {
      const sleepMs = Math.min(delayMs ?? maxDelayMs, maxDelayMs);
      const at = performance.now() + sleepMs;
      if (at >= timerAt) return;
      clearTimeout(timer);
      timerAt = at;
      timer = setTimeout(() => {
        timerAt = Number.POSITIVE_INFINITY;
        action();
      }, sleepMs);
    },
    cancel: (): void => clearTimeout(timer),
  };
}
