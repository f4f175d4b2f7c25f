import { withTimeout } from "@hak2i/async-kit";
import type { DuePost } from "../store/posts/interface.ts";
import { createCallbackLimits } from "./callback-limits.ts";
import { createOriginSlots } from "./origin-slots.ts";

/** Posts a callback and settles it. */
export type Deliver<Post extends DuePost> = (callback: Post) => Delivery;

/** A POST in progress. Neither promise may reject. */
export interface Delivery {
  /** Resolves when the row is settled durably; false if it is still due. */
  settled: Promise<boolean>;
  /** Resolves when the response has been read or aborted: true if the origin sent an HTTP response, null if that is unknown. */
  ended: Promise<boolean | null>;
}

interface Options<Post extends DuePost> {
  deliver: Deliver<Post>;
  /** A POST has ended, so a slot of its origin is free. */
  onEnded(callback: Post): void;
  onSettled(callback: Post, isSettled: boolean): void;
  /** Neither its POST nor its settlement is in progress, so its tenant may have room. */
  onReleased(): void;
}

/** Posts callbacks, and tracks which are in progress. Callers start no more callbacks than `roomOfOrigin` and `roomOfTenant` report. */
export function createCallbackPosts<Post extends DuePost>({ deliver, onEnded, onSettled, onReleased }: Options<Post>) {
  const slots = createOriginSlots();
  const limits = createCallbackLimits();
  /** Number of callbacks that occupy a slot, including those whose POST starts in a later event-loop turn. */
  let inProgress = 0;
  let idle: PromiseWithResolvers<void> | null = null;

  function release(callback: Post): void {
    limits.release(callback);
    onReleased();
    inProgress -= 1;
    if (inProgress > 0) return;
    idle?.resolve();
    idle = null;
  }

  return {
    roomOfOrigin: slots.roomOf,
    roomOfTenant: limits.roomOf,
    unsettledOf: slots.unsettledOf,
    forgetOld: slots.forgetOld,

    /** Counts a callback as in progress, so that reads of the store omit it. Returns a function that starts its POST; call it once. */
    occupy(callback: Post): () => void {
      const slot = slots.occupy(callback);
      limits.occupy(callback);
      inProgress += 1;
      return () => {
        const { settled, ended } = deliver(callback);
        // A retry may be due long before the response to the first attempt has ended.
        let hasEndedOrSettled = false;
        const releaseIfDone = (): void => {
          if (hasEndedOrSettled) release(callback);
          hasEndedOrSettled = true;
        };
        void ended.then((responded) => {
          slot.end(responded);
          onEnded(callback);
          releaseIfDone();
        });
        void settled.then((isSettled) => {
          slot.settle();
          onSettled(callback, isSettled);
          releaseIfDone();
        });
      };
    },
    /** Resolves when no callback is in progress, or after the timeout. */
    async waitUntilIdle(timeoutMs: number): Promise<void> {
      if (inProgress === 0) return;
      idle ??= Promise.withResolvers();
      await withTimeout(idle.promise, timeoutMs, () => {});
    },
  };
}
