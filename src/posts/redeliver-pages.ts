import type { Page } from "../store/page.ts";

/** Dead posts that one request examines. Others of the process wait for no more than one page of them. */
const MAX_EXAMINED = 1000;
const PAGE_LENGTH = 100;

/** How many posts one request has redelivered, and where the next one continues; null at the end. */
export interface Redelivery {
  redelivered: number;
  next: number | null;
}

interface PagesOptions<Post> {
  /** Null for the first request. */
  before: number | null;
  /** Lists dead posts, newest first. */
  list(page: Page): Promise<readonly Post[]>;
  keyOf(post: Post): number;
  /** Returns whether the post was dead. */
  redeliver(post: Post): Promise<boolean>;
}

/** Redelivers dead posts page by page. Examines a limited number of them. */
export async function redeliverPages<Post>({ before, list, keyOf, redeliver }: PagesOptions<Post>): Promise<Redelivery> {
  let next = before;
  let redelivered = 0;
  for (let examined = 0; examined < MAX_EXAMINED; examined += PAGE_LENGTH) {
    const page = await list({ before: next, limit: PAGE_LENGTH });
    // Writes of one turn of the event loop share a transaction.
    redelivered += (await Promise.all(page.map(redeliver))).filter(Boolean).length;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_LENGTH) return { redelivered, next: null };
    next = keyOf(last);
  }
  return { redelivered, next };
}
