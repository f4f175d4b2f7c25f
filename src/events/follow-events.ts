import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFeed, EventStore, StoredEvent } from "./event-feed.ts";
import type { EventId } from "./event-id.ts";
import type { EventLog } from "./event-log.ts";

/** The far end of a feed. */
export interface EventFollower {
  /** Events are missing here; the oldest that is kept is next. */
  gap(oldest: number | null): void;
  /** Stored events. False asks for a pause, until `drained`. */
  replay(events: readonly StoredEvent[]): boolean;
  /** Resolves when there is room again, or the follower is gone. */
  drained(): Promise<void>;
  /** New events, at the log's pace. */
  live(events: readonly StoredEvent[]): void;
  /** The feed has ended before its last event, because its task was deleted. */
  over(): void;
}

/** Where to begin: after this number; null when the follower has seen something that this log does not know. */
export type Place = number | null;

/** The place that an event id names. */
export const placeOf = (store: Pick<EventStore, "epoch" | "lastEventNumber">, { epoch, number }: EventId): Place =>
  epoch === store.epoch && number <= store.lastEventNumber() ? number : null;

/**
 * Brings a follower from its place in the past, page by page and at its own pace, into the present: every event of the feed
 * once, in number order. Resolves when it is live (or gone, by `signal`); live events end with `signal`.
 */
export async function followEvents(
  { store, eventLog, feed }: { store: EventStore; eventLog: EventLog; feed: EventFeed },
  { from, follower, signal }: { from: Place; follower: EventFollower; signal: AbortSignal },
): Promise<void> {
  // An unknown place lies before everything, so that a gap is told.
  let position = from ?? -1;
  while (!signal.aborted) {
    const { through, hasRoom, isOver } = await replayPage(feed, position, follower, signal);
    position = through;
    if (signal.aborted) return;
    if (isOver) {
      follower.over();
      return;
    }
    if (!hasRoom) await follower.drained();
    // In the same turn as the comparison: what is committed from here on is published to the listener.
    else if (position >= store.lastEventNumber()) {
      goLive(eventLog, feed, follower, signal);
      return;
    }
    // A long replay must not keep the others from their turn.
    else await nextTurn();
  }
}

/** Passes one page on, or tells that it is missing. A function of its own, so that nobody who waits for a slow follower holds the page. */
async function replayPage(
  feed: EventFeed,
  position: number,
  follower: EventFollower,
  signal: AbortSignal,
): Promise<{ through: number; hasRoom: boolean; isOver?: boolean }> {
  const { events, through, isOver = false } = await feed.read(position);
  // Asked after the page was read: what is pruned from now on cannot be missing in it.
  const { oldest, completeFrom } = await feed.kept();
  if (signal.aborted) return { through: position, hasRoom: false };
  if (isOver) return { through, hasRoom: true, isOver };
  if (position + 1 < completeFrom) {
    follower.gap(oldest);
    return { through: completeFrom - 1, hasRoom: true };
  }
  return { through, hasRoom: follower.replay(events) };
}

function goLive(eventLog: EventLog, feed: EventFeed, follower: EventFollower, signal: AbortSignal): void {
  if (signal.aborted) return;
  const unsubscribe = eventLog.subscribe((events) => {
    const mine = events.filter((event) => feed.matches(event));
    if (mine.length > 0) follower.live(mine);
  });
  signal.addEventListener("abort", unsubscribe, { once: true });
}
