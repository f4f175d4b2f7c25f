import type { DuePost, PostQueue } from "../store/posts/interface.ts";
import type { Outbox } from "./outbox.ts";
import { createPostsInProgress, type Deliver } from "./posts-in-progress.ts";
import { createDueSearch } from "./search.ts";
import { createTurns } from "./turns.ts";

interface ClaimsOptions<Post extends DuePost> {
  outbox: Pick<Outbox<Post>, "listDueQueues" | "listDue" | "nextInMs">;
  deliver: Deliver<Post>;
  onFault(error: unknown): void;
  maxSleepMs?: number | undefined;
}

/**
 * Decides when each post is posted: tenants and receivers do not delay each other, and none gets more than its share. Only one worker
 * posts the posts of an receiver, so those in progress are tracked in memory and need no lease.
 */
export function createClaims<Post extends DuePost>({ outbox, deliver, onFault, maxSleepMs }: ClaimsOptions<Post>) {
  const turns = createTurns();
  const posts = createPostsInProgress({
    deliver,
    onEnded({ receiver }) {
      turns.resume(receiver);
      claimSoon();
    },
    onSettled({ tenant, receiver }, isSettled) {
      if (!isSettled) turns.add({ tenant, receiver });
      claimSoon();
    },
    onReleased: claimSoon,
  });
  const search = createDueSearch({
    ...{ outbox, onFault, maxSleepMs },
    onBegin: posts.forgetOld,
    onFound: turns.add,
    onEnded: claimSoon,
  });
  let open = false;
  let claiming = false;

  const mayClaim = (tenant: string): boolean => open && posts.roomOfTenant(tenant) > 0;

  /** Claims in a later event-loop turn, so that all posts of one commit are claimed together. */
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

  async function claim(queue: PostQueue): Promise<void> {
    const roomOfReceiver = posts.roomOfReceiver(queue.receiver);
    const room = Math.min(roomOfReceiver, posts.roomOfTenant(queue.tenant));
    if (room > 0) turns.unpark(queue);
    const due = room > 0 ? await outbox.listDue(queue, room, posts.unsettledOf(queue.receiver)) : [];
    if (!open) return;
    if (due.length === room && room === roomOfReceiver) turns.park(queue);
    else if (due.length === room) turns.add(queue);
    for (const post of due) posts.occupy(post)();
  }

  /**
   * Starts a post that was just stored without reading it back. It waits for its turn if another one can start now, or if one to its
   * receiver waits in the outbox. The POST starts in a later event-loop turn, after the responses to clients whose writes were committed.
   */
  function handOver(post: Post): void {
    const { tenant, receiver } = post;
    // `claiming` is true while a tenant that has room waits for its turn.
    const isNext = search.isBacklogKnown() && !claiming && !turns.isAwaited(receiver);
    if (isNext && mayClaim(tenant) && posts.roomOfReceiver(receiver) > 0) setImmediate(posts.occupy(post));
    else notify({ tenant, receiver });
  }

  function notify(queue: PostQueue): void {
    turns.add(queue);
    claimSoon();
  }

  return {
    /** Starts to claim posts, first those that are due. */
    start(): void {
      open = true;
      search.start();
    },
    handOver,
    /** A post of this queue is due. */
    notify,
    /** Another node reports due posts. */
    searchSoon: search.searchSoon,
    /** A post will be due after this delay. */
    wakeIn: search.wakeIn,
    /** Stops claiming. */
    stop(): void {
      open = false;
      search.stop();
    },
    /** Resolves when no post is in progress, or after the timeout. */
    waitUntilIdle: posts.waitUntilIdle,
  };
}
