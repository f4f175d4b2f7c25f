import type { DuePost, PostQueue, PostSettlement } from "../store/posts/interface.ts";

/** What a worker posts: the callbacks, or the deliveries to webhooks. */
export interface Outbox<Post extends DuePost> {
  /** Called with each new post as soon as it is durable. An outbox that only notifies the worker never calls it. */
  onPost(listener: (post: Post) => void): void;
  /** Queues that have a due post. */
  listDueQueues(): Promise<PostQueue[]>;
  /** Due posts of one queue, the longest due first, without the rows in progress. */
  listDue(queue: PostQueue, limit: number, inProgress?: ReadonlySet<number>): Promise<Post[]>;
  /** Milliseconds until the next post that is not due yet, null when there is none. */
  nextInMs(): Promise<number | null>;
  /** Counts the POST and settles the row. Null if the row is no longer pending or the POST is already counted. */
  settleIfPending(posted: Post, settlement: PostSettlement): Promise<number | null>;
}
