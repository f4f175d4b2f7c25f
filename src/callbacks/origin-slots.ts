import type { DuePost } from "../store/posts/interface.ts";
import { createUnresponsiveOrigins } from "./unresponsive-origins.ts";

const MAX_POSTS_PER_ORIGIN = 8;
/** An origin that sent no response may hang again until the deadline, so it occupies at most one slot until it responds. */
const MAX_POSTS_PER_UNRESPONSIVE_ORIGIN = 1;

/** Callbacks in progress for one origin, of all tenants. */
interface OriginLoad {
  posts: number;
  /** Row numbers of callbacks that are being posted, or are not yet settled durably. */
  unsettled: Set<number>;
}

/** Counts the POSTs to each origin, and limits them. */
export function createOriginSlots() {
  const loads = new Map<string, OriginLoad>();
  const unresponsive = createUnresponsiveOrigins();

  function forgetIfIdle(origin: string, load: OriginLoad): void {
    if (load.posts === 0 && load.unsettled.size === 0 && loads.get(origin) === load) loads.delete(origin);
  }

  return {
    /** Number of further POSTs to the origin that may start now. */
    roomOf(origin: string): number {
      const slots = unresponsive.has(origin) ? MAX_POSTS_PER_UNRESPONSIVE_ORIGIN : MAX_POSTS_PER_ORIGIN;
      return Math.max(0, slots - (loads.get(origin)?.posts ?? 0));
    },
    /** Row numbers of the origin's callbacks in progress. */
    unsettledOf: (origin: string): ReadonlySet<number> => loads.get(origin)?.unsettled ?? new Set(),
    /** A POST occupies a slot from now on. Returns how to report its end and its settlement. */
    occupy({ origin, row }: DuePost) {
      const load = loads.get(origin) ?? { posts: 0, unsettled: new Set() };
      loads.set(origin, load);
      load.posts += 1;
      load.unsettled.add(row);
      return {
        /** The POST has ended. `responded` is null if it is unknown whether the origin can respond. */
        end(responded: boolean | null): void {
          if (responded !== null) unresponsive.record(origin, responded);
          load.posts -= 1;
          forgetIfIdle(origin, load);
        },
        settle(): void {
          load.unsettled.delete(row);
          forgetIfIdle(origin, load);
        },
      };
    },
    /** Forgets which origins did not respond a long time ago. */
    forgetOld: unresponsive.forgetOld,
  };
}
