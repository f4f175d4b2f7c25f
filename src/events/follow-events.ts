import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFeed, EventStore, StoredEvent } from "./event-feed.ts";
import type { EventId } from "./event-id.ts";
import type { EventLog } from "./event-log.ts";

/** The receiver of a feed. */
export interface EventFollower {
  /** Events were pruned here. `oldest` is the number of the oldest stored event. */
  onGap(oldest: number | null): void;
  /** Stored events. False pauses the feed until `waitForDrain` resolves. */
  onReplay(events: readonly StoredEvent[]): boolean;
  /** Resolves when there is room again, or when the follower has disconnected. */
  waitForDrain(): Promise<void>;
  /** New events, without backpressure. */
  onLive(events: readonly StoredEvent[]): void;
  /** The feed ends before its last event, because its task was deleted. */
  onFeedEnd(): void;
}

/** Start after the event with this number. Null if the follower has seen an event that this log does not contain. */
export type EventPosition = number | null;

/** Finds the position of an event id in the log. */
export const positionOf = (store: Pick<EventStore, "epoch" | "lastEventNumber">, { epoch, number }: EventId): EventPosition =>
  epoch === store.epoch && number <= store.lastEventNumber() ? number : null;

/**
 * Sends each event of the feed to the follower once, in number order: first stored events page by page with backpressure, then live events.
 * Resolves when the follower is live or the signal is aborted. Aborting the signal also ends the live events.
 */
export async function followEvents(
  { store, eventLog, feed }: { store: EventStore; eventLog: EventLog; feed: EventFeed },
  { from, follower, signal }: { from: EventPosition; follower: EventFollower; signal: AbortSignal },
): Promise<void> {
  // An unknown position precedes all events, so that the follower gets a gap.
  let position = from ?? -1;
  while (!signal.aborted) {
    const { through, hasRoom, isDeleted } = await replayPage(feed, position, follower, signal);
    position = through;
    if (signal.aborted) return;
    if (isDeleted) {
      follower.onFeedEnd();
      return;
    }
    if (!hasRoom) await follower.waitForDrain();
    // Subscribes in the same turn as the comparison, so no commit lies between the two.
    else if (position >= store.lastEventNumber()) {
      goLive(eventLog, feed, follower, signal);
      return;
    }
    // Lets other work run between the pages of a long replay.
    else await nextTurn();
  }
}

/**
 * Sends one page, or the gap before it. A separate function, so that the page is not held in memory while the feed waits for a slow
 * follower.
 */
async function replayPage(
  feed: EventFeed,
  position: number,
  follower: EventFollower,
  signal: AbortSignal,
): Promise<{ through: number; hasRoom: boolean; isDeleted?: boolean }> {
  const { events, through, isDeleted = false } = await feed.read(position);
  // Read after the page, so that every event pruned before the page was read counts as missing.
  const { oldest, completeFrom } = await feed.readRetained();
  if (signal.aborted) return { through: position, hasRoom: false };
  if (isDeleted) return { through, hasRoom: true, isDeleted };
  if (position + 1 < completeFrom) {
    follower.onGap(oldest);
    return { through: completeFrom - 1, hasRoom: true };
  }
  return { through, hasRoom: follower.onReplay(events) };
}

function goLive(eventLog: EventLog, feed: EventFeed, follower: EventFollower, signal: AbortSignal): void {
  if (signal.aborted) return;
  const unsubscribe = eventLog.follow(feed, (events) => follower.onLive(events));
  signal.addEventListener("abort", unsubscribe, { once: true });
}
