import type { CallbackQueue, DuePost } from "../store/posts/interface.ts";
import type { CallbackOutbox } from "./callback-outbox.ts";
import { createCallbackPosts, type Deliver } from "./callback-posts.ts";
import { createCallbackSearch } from "./callback-search.ts";
import { createCallbackTurns } from "./callback-turns.ts";

/**
 * Decides when each callback is posted: tenants and origins do not delay each other, and none gets more than its share. Only one worker
 * posts the callbacks of an origin, so those in progress are tracked in memory and need no lease.
 */
export function createCallbackClaims<Post extends DuePost>({
  store,
  deliver,
  onFault,
  maxSleepMs,
}: {
  store: Pick<CallbackOutbox<Post>, "listDueCallbackQueues" | "listDueCallbacks" | "nextCallbackInMs">;
  deliver: Deliver<Post>;
  onFault: (error: unknown) => void;
  maxSleepMs?: number | undefined;
}) {
  const turns = createCallbackTurns();
  const posts = createCallbackPosts({
    deliver,
    onEnded({ origin }) {
      turns.resume(origin);
      claimSoon();
    },
    onSettled({ tenant, origin }, isSettled) {
      if (!isSettled) turns.add({ tenant, origin });
      claimSoon();
    },
    onReleased: claimSoon,
  });
  const search = createCallbackSearch({
    ...{ store, onFault, maxSleepMs },
    onBegin: posts.forgetOld,
    onFound: turns.add,
    onEnded: claimSoon,
  });
  let open = false;
  let claiming = false;

  const mayClaim = (tenant: string): boolean => open && posts.roomOfTenant(tenant) > 0;

  /** Claims in a later event-loop turn, so that all callbacks of one commit are claimed together. */
  function claimSoon(): void {
    if (claiming || !turns.hasTurn(mayClaim)) return;
    claiming = true;
    setImmediate(() => void claimAll());
  }

  async function claimAll(): Promise<void> {
    await claimInTurn().catch(search.pauseAfterFault);
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
   * Starts a callback that was just stored without reading it back. It waits for its turn if another one can start now, or if one to its
   * origin waits in the store. The POST starts in a later event-loop turn, after the responses to clients whose writes were committed.
   */
  function handOver(callback: Post): void {
    const { tenant, origin } = callback;
    // `claiming` is true while a tenant that has room waits for its turn.
    const isNext = search.isBacklogKnown() && !claiming && !turns.isAwaited(origin);
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
      search.start();
    },
    handOver,
    /** A callback of this queue is due. */
    notify,
    /** Another node reports due callbacks. */
    searchSoon: search.searchSoon,
    /** A callback will be due after this delay. */
    wakeIn: search.wakeIn,
    /** Stops claiming. */
    stop(): void {
      open = false;
      search.stop();
    },
    /** Resolves when no callback is in progress, or after the timeout. */
    waitUntilIdle: posts.waitUntilIdle,
  };
}
