import type { CallbackQueue, DueCallback, Store } from "../store/store.ts";
import { createCallbackPosts, type Deliver } from "./callback-posts.ts";
import { createCallbackTurns } from "./callback-turns.ts";
import { createWakeTimer } from "./wake-timer.ts";

/** Pause after a failed read of the store. */
const FAULT_PAUSE_MS = 1000;

/**
 * Decides when each callback is posted: tenants and origins do not delay each other, and none gets more than its share. Only one worker
 * settles callbacks, so those in progress are tracked in memory and need no lease.
 */
export function createCallbackClaims({
  store,
  deliver,
  onFault,
}: {
  store: Pick<Store, "listDueCallbackQueues" | "listDueCallbacks" | "nextCallbackInMs">;
  deliver: Deliver;
  onFault: (error: unknown) => void;
}) {
  const turns = createCallbackTurns();
  const posts = createCallbackPosts({
    deliver,
    onEnded({ origin }) {
      turns.resume(origin);
      claimSoon();
    },
    onSettled({ task, origin }, isSettled) {
      if (!isSettled) turns.add({ tenant: task.tenant, origin });
      claimSoon();
    },
    onReleased: claimSoon,
  });
  const timer = createWakeTimer(() => void findDueQueues());
  let open = false;
  let claiming = false;
  /** Whether `turns` contains all queues that had due callbacks at the last read of the store. */
  let isBacklogKnown = false;

  const mayClaim = (tenant: string): boolean => open && posts.roomOfTenant(tenant) > 0;

  async function findDueQueues(): Promise<void> {
    posts.forgetOld();
    try {
      // In this order, both reads find a callback that becomes due between them. In the other order, neither would.
      const nextInMs = await store.nextCallbackInMs();
      for (const queue of await store.listDueCallbackQueues()) turns.add(queue);
      isBacklogKnown = true;
      wakeIn(nextInMs);
    } catch (error) {
      pauseAfterFault(error);
    }
    claimSoon();
  }

  function wakeIn(delayMs: number | null): void {
    if (open) timer.wakeIn(delayMs);
  }

  function pauseAfterFault(error: unknown): void {
    onFault(error);
    isBacklogKnown = false;
    wakeIn(FAULT_PAUSE_MS);
  }

  /** Claims in a later event-loop turn, so that all callbacks of one commit are claimed together. */
  function claimSoon(): void {
    if (claiming || !turns.hasTurn(mayClaim)) return;
    claiming = true;
    setImmediate(() => void claimAll());
  }

  async function claimAll(): Promise<void> {
    await claimInTurn().catch(pauseAfterFault);
    claiming = false;
    claimSoon();
  }

  async function claimInTurn(): Promise<void> {
    for (const queue of turns.take(mayClaim)) await claim(queue);
  }

  async function claim(queue: CallbackQueue): Promise<void> {
    const roomOfOrigin = posts.roomOfOrigin(queue.origin);
    const room = Math.min(roomOfOrigin, posts.roomOfTenant(queue.tenant));
    if (room > 0) turns.unpark(queue);
    const due = room > 0 ? await store.listDueCallbacks(queue, room, posts.unsettledOf(queue.origin)) : [];
    if (!open) return;
    if (due.length === room && room === roomOfOrigin) turns.park(queue);
    else if (due.length === room) turns.add(queue);
    for (const callback of due) posts.occupy(callback)();
  }

  /**
   * Starts a callback that was just stored without reading it back, if no callback that could start now waits for its turn, and none to
   * this origin waits in the store. The POST starts in a later event-loop turn, after the responses to clients whose writes were committed.
   */
  function handOver(callback: DueCallback): void {
    const { origin } = callback;
    const { tenant } = callback.task;
    // `claiming` is true while a tenant that has room waits for its turn.
    const isNext = isBacklogKnown && !claiming && !turns.isAwaited(origin);
    if (isNext && mayClaim(tenant) && posts.roomOfOrigin(origin) > 0) setImmediate(posts.occupy(callback));
    else notify({ tenant, origin });
  }

  function notify(queue: CallbackQueue): void {
    turns.add(queue);
    claimSoon();
  }

  return {
    /** Starts to claim callbacks, first those that are due. */
    start(): void {
      open = true;
      void findDueQueues();
    },
    handOver,
    /** A callback of this queue is due. */
    notify,
    /** A callback will be due after this delay. */
    wakeIn,
    /** Stops claiming. */
    stop(): void {
      open = false;
      timer.cancel();
    },
    /** Resolves when no callback is in progress, or after the timeout. */
    waitUntilIdle: posts.waitUntilIdle,
  };
}
