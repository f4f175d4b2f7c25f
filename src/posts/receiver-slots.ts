import type { DuePost } from "../store/posts/interface.ts";
import { createUnresponsiveReceivers } from "./unresponsive-receivers.ts";

const MAX_POSTS_PER_RECEIVER = 8;
/** An receiver that sent no response may hang again until the deadline, so it occupies at most one slot until it responds. */
const MAX_POSTS_PER_UNRESPONSIVE_RECEIVER = 1;

/** Posts in progress for one receiver, of all tenants. */
interface ReceiverLoad {
  posts: number;
  /** Row numbers of posts that are being posted, or are not yet settled durably. */
  unsettled: Set<number>;
}

/** Counts the POSTs to each receiver, and limits them. */
export function createReceiverSlots() {
  const loads = new Map<string, ReceiverLoad>();
  const unresponsive = createUnresponsiveReceivers();

  function forgetIfIdle(receiver: string, load: ReceiverLoad): void {
    if (load.posts === 0 && load.unsettled.size === 0 && loads.get(receiver) === load) loads.delete(receiver);
  }

  return {
    /** Number of further POSTs to the receiver that may start now. */
    roomOf(receiver: string): number {
      const slots = unresponsive.has(receiver) ? MAX_POSTS_PER_UNRESPONSIVE_RECEIVER : MAX_POSTS_PER_RECEIVER;
      return Math.max(0, slots - (loads.get(receiver)?.posts ?? 0));
    },
    /** Row numbers of the receiver's posts in progress. */
    unsettledOf: (receiver: string): ReadonlySet<number> => loads.get(receiver)?.unsettled ?? new Set(),
    /** A POST occupies a slot from now on. Returns how to report its end and its settlement. */
    occupy({ receiver, row }: DuePost) {
      const load = loads.get(receiver) ?? { posts: 0, unsettled: new Set() };
      loads.set(receiver, load);
      load.posts += 1;
      load.unsettled.add(row);
      return {
        /** The POST has ended. `responded` is null if it is unknown whether the receiver can respond. */
        end(responded: boolean | null): void {
          if (responded !== null) unresponsive.record(receiver, responded);
          load.posts -= 1;
          forgetIfIdle(receiver, load);
        },
        settle(): void {
          load.unsettled.delete(row);
          forgetIfIdle(receiver, load);
        },
      };
    },
    /** Forgets which receivers did not respond a long time ago. */
    forgetOld: unresponsive.forgetOld,
  };
}
