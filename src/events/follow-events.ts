import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFeed, EventStore, StoredEvent } from "./event-feed.ts";
import type { EventId } from "./event-id.ts";
import type { EventLog } from "./event-log.ts";

/** The receiver of a feed. */
export interface EventFollower {
  /** Events may be missing here: they were pruned, or the epoch changed. `oldest` is the number of the oldest stored event. */
  onGap(oldest: number | null): void;
  /** Called before each read of stored events. Resolves when the follower has room for a page, or has disconnected. */
  waitForRoom(): Promise<void>;
  /** Stored events, once after each wait for room. False: the follower cannot receive live events yet. */
  onReplay(events: readonly StoredEvent[]): boolean;
  /** New events, without backpressure. */
  onLive(events: readonly StoredEvent[]): void;
  /** The feed ends before its last event, because its task was deleted. */
  onFeedEnd(): void;
  /** Reading the feed failed, so no event follows. */
  onError(error: unknown): void;
}

/** Start after the event with this id. Null if the follower has seen an event that this log does not contain. */
export type EventPosition = EventId | null;

/** The feed to follow, and the store and the log that contain it. */
interface FollowSource {
  store: EventStore;
  eventLog: Pick<EventLog, "follow">;
  feed: EventFeed;
}

interface FollowOptions {
  from: EventPosition;
  follower: EventFollower;
  signal: AbortSignal;
}

/**
 * Finds the position of an event id in the log. Another process may have published the event, so an id is unknown only if the log does
 * not contain it after the store has caught up.
 */
export async function positionOf(store: Pick<EventStore, "epoch" | "lastEventNumber" | "catchUp">, id: EventId): Promise<EventPosition> {
  const isKnown = (): boolean => id.epoch === store.epoch && id.number <= store.lastEventNumber();
  if (!isKnown()) await store.catchUp();
  return isKnown() ? id : null;
}

/**
 * Sends each event of the feed to the follower once, in number order: first stored events page by page with backpressure, then live events.
 * If the epoch of the log changes, starts again with a gap. Resolves when the follower is live, the feed has ended or the signal is
 * aborted; never rejects. Aborting the signal also ends the live events.
 */
export async function followEvents(source: FollowSource, options: FollowOptions): Promise<void> {
  try {
    await replay(source, options);
  } catch (error) {
    // A read can fail because Bridge stops, which has ended the follower before.
    if (!options.signal.aborted) options.follower.onError(error);
  }
}

async function replay(source: FollowSource, { from, follower, signal }: FollowOptions): Promise<void> {
  const { store, feed } = source;
  const { epoch } = store;
  // An unknown position precedes all events, so that the follower gets a gap.
  let position = from?.epoch === epoch ? from.number : -1;
  const isCurrent = (): boolean => !signal.aborted && store.epoch === epoch;
  while (isCurrent()) {
    await follower.waitForRoom();
    if (!isCurrent()) break;
    const { through, hasRoom, isDeleted } = await replayPage(feed, position, follower, isCurrent);
    position = through;
    if (!isCurrent()) break;
    if (isDeleted) return follower.onFeedEnd();
    // Follows in the same turn as the comparison, so nothing is published between the two.
    if (hasRoom && position >= store.lastEventNumber()) return goLive(source, { epoch, position }, { follower, signal });
    // Lets other work run between the pages of a long replay.
    await nextTurn();
  }
  if (!signal.aborted) await replay(source, { from: null, follower, signal });
}

/**
 * Sends one page, or the gap before it. A separate function, so that the page is not held in memory while the feed waits for a slow
 * follower.
 */
async function replayPage(
  feed: EventFeed,
  position: number,
  follower: EventFollower,
  isCurrent: () => boolean,
): Promise<{ through: number; hasRoom: boolean; isDeleted?: boolean }> {
  const { events, through, isDeleted = false } = await feed.read(position);
  // Read after the page, so that every event pruned before the page was read counts as missing.
  const { oldest, completeFrom } = await feed.readRetained();
  const isMissing = position + 1 < completeFrom;
  const hasRoom = follower.onReplay(isCurrent() && !isDeleted && !isMissing ? events : []);
  if (!isCurrent()) return { through: position, hasRoom };
  if (isDeleted) return { through, hasRoom, isDeleted };
  if (!isMissing) return { through, hasRoom };
  follower.onGap(oldest);
  return { through: completeFrom - 1, hasRoom };
}

/** Sends the events that are published from now on, except those up to `position`, which the follower has received in a page. */
function goLive(
  source: FollowSource,
  { epoch, position }: { epoch: string; position: number },
  { follower, signal }: Omit<FollowOptions, "from">,
): void {
  const unfollow = source.eventLog.follow(source.feed, (events) => {
    if (source.store.epoch !== epoch) {
      stop();
      void followEvents(source, { from: null, follower, signal });
      return;
    }
    // All followers of the feed share the array, and with it the encoded events.
    const unseen = (events[0]?.number ?? 0) > position ? events : events.filter(({ number }) => number > position);
    if (unseen.length > 0) follower.onLive(unseen);
  });
  const stop = (): void => {
    unfollow();
    signal.removeEventListener("abort", stop);
  };
  signal.addEventListener("abort", stop, { once: true });
}
