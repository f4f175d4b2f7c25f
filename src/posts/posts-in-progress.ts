import { withTimeout } from "@hak2i/async-kit";
import type { DuePost } from "../store/posts/interface.ts";
import { createPostLimits } from "./limits.ts";
import { createReceiverSlots } from "./receiver-slots.ts";

/** Posts a post and settles it. */
export type Deliver<Post extends DuePost> = (post: Post) => Delivery;

/** A POST in progress. Neither promise may reject. */
export interface Delivery {
  /** Resolves when the row is settled durably; false if it is still due. */
  settled: Promise<boolean>;
  /** Resolves when the response has been read or aborted: true if the receiver sent an HTTP response, null if that is unknown. */
  ended: Promise<boolean | null>;
}

interface Options<Post extends DuePost> {
  deliver: Deliver<Post>;
  /** A POST has ended, so a slot of its receiver is free. */
  onEnded(post: Post): void;
  onSettled(post: Post, isSettled: boolean): void;
  /** Neither its POST nor its settlement is in progress, so its tenant may have room. */
  onReleased(): void;
}

/** Posts posts, and tracks which are in progress. Callers start no more posts than `roomOfReceiver` and `roomOfTenant` report. */
export function createPostsInProgress<Post extends DuePost>({ deliver, onEnded, onSettled, onReleased }: Options<Post>) {
  const slots = createReceiverSlots();
  const limits = createPostLimits();
  /** Number of posts that occupy a slot, including those whose POST starts in a later event-loop turn. */
  let inProgress = 0;
  let idle: PromiseWithResolvers<void> | null = null;

  function release(post: Post): void {
    limits.release(post);
    onReleased();
    inProgress -= 1;
    if (inProgress > 0) return;
    idle?.resolve();
    idle = null;
  }

  return {
    roomOfReceiver: slots.roomOf,
    roomOfTenant: limits.roomOf,
    unsettledOf: slots.unsettledOf,
    forgetOld: slots.forgetOld,

    /** Counts a post as in progress, so that reads of the store omit it. Returns a function that starts its POST; call it once. */
    occupy(post: Post): () => void {
      const slot = slots.occupy(post);
      limits.occupy(post);
      inProgress += 1;
      return () => {
        const { settled, ended } = deliver(post);
        // A retry may be due long before the response to the first attempt has ended.
        let hasEndedOrSettled = false;
        const releaseIfDone = (): void => {
          if (hasEndedOrSettled) release(post);
          hasEndedOrSettled = true;
        };
        void ended.then((responded) => {
          slot.end(responded);
          onEnded(post);
          releaseIfDone();
        });
        void settled.then((isSettled) => {
          slot.settle();
          onSettled(post, isSettled);
          releaseIfDone();
        });
      };
    },
    /** Resolves when no post is in progress, or after the timeout. */
    async waitUntilIdle(timeoutMs: number): Promise<void> {
      if (inProgress === 0) return;
      idle ??= Promise.withResolvers();
      await withTimeout(idle.promise, timeoutMs, () => {});
    },
  };
}
