import type { DuePost } from "../store/posts/interface.ts";

/** Maximum posts in progress of all tenants. Limits sockets and memory. */
const MAX_CLAIMED = 1024;
/**
 * A tenant may have this many times as many posts in progress as there are free slots: 768 of the 1,024 if it is alone. So there is
 * always a free slot for a tenant without any.
 */
const TENANT_SHARE = 3;
/** Approximate maximum length of the bodies in progress of one tenant, in UTF-16 units. A tenant without any may always post one. */
const MAX_BODIES_PER_TENANT = 32 * 1024 ** 2;
/** Approximate maximum length of the bodies in progress of all tenants together. */
const MAX_BODIES = 128 * 1024 ** 2;

/** Counts the posts in progress and the length of their bodies, and limits both for each tenant. */
export function createPostLimits() {
  const claimedBy = new Map<string, number>();
  const bodiesOf = new Map<string, number>();
  let claimed = 0;
  let bodies = 0;

  function count({ tenant, heldLength }: DuePost, sign: 1 | -1): void {
    claimed += sign;
    addTo(claimedBy, tenant, sign);
    bodies += sign * heldLength;
    addTo(bodiesOf, tenant, sign * heldLength);
  }

  return {
    /** Number of further posts that the tenant may start now. */
    roomOf(tenant: string): number {
      const ownBodies = bodiesOf.get(tenant) ?? 0;
      if (ownBodies > 0 && (ownBodies >= MAX_BODIES_PER_TENANT || bodies >= MAX_BODIES)) return 0;
      const free = MAX_CLAIMED - claimed;
      const room = Math.ceil((TENANT_SHARE * free - (claimedBy.get(tenant) ?? 0)) / (TENANT_SHARE + 1));
      return Math.max(0, Math.min(room, free));
    },
    /** A post is in progress from now on. */
    occupy: (post: DuePost): void => count(post, 1),
    /** The post is no longer in progress. */
    release: (post: DuePost): void => count(post, -1),
  };
}

/** Adds to a count. Counts of zero are deleted. */
function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
