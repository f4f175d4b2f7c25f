import type { EventStore } from "./event-feed.ts";
import type { EventPosition } from "./follow-events.ts";

/**
 * Finds the position before the first event that was stored at `since`, in ms, or later. Uses a binary search, because the times of events
 * increase with their numbers. If the system clock was set back, several positions can match, and one of them is returned.
 */
export async function findPositionSince(
  store: Pick<EventStore, "epoch" | "catchUp" | "firstEventFrom">,
  since: number,
): Promise<EventPosition> {
  const { epoch } = store;
  let after = 0;
  let through = await store.catchUp();
  // Events up to `after` are older, and those beyond `through` are not.
  while (after < through) {
    const middle = Math.floor((after + through) / 2);
    const event = await store.firstEventFrom(middle + 1);
    if (event === null || event.number > through || event.at >= since) through = middle;
    else after = event.number;
  }
  return { epoch, number: after };
}
