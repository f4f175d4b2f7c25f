import type { CallbackQueue, CallbackSettlement, DueCallback, DuePost } from "../store/posts/interface.ts";

/** What a worker posts: the callbacks of the store, or other posts that are stored and settled in the same way. */
export interface CallbackOutbox<Post extends DuePost = DueCallback> {
  /** Called with each new post as soon as it is durable. An outbox that only notifies the worker never calls it. */
  onCallback(listener: (callback: Post) => void): void;
  /** Queues that have a due post. */
  listDueCallbackQueues(): Promise<CallbackQueue[]>;
  /** Due posts of one queue, the longest due first, without the rows in progress. */
  listDueCallbacks(queue: CallbackQueue, limit: number, inProgress?: ReadonlySet<number>): Promise<Post[]>;
  /** Milliseconds until the next post that is not due yet, null when there is none. */
  nextCallbackInMs(): Promise<number | null>;
  /** Counts the POST and settles the row. Null if the row is no longer pending or the POST is already counted. */
  settleCallbackIfPending(posted: Post, settlement: CallbackSettlement): Promise<number | null>;
}
