import type { SharedEvents } from "./shared-events.ts";

/** Limits of the live events that wait for one client, in addition to the buffers of its connection. */
const MAX_BYTES = 1024 * 1024;
const MAX_EVENTS = 1000;

/** Creates the queue of live events that the connection of a client has not accepted yet. */
export function createWaitingEvents() {
  /** The oldest first. */
  const waiting: SharedEvents[] = [];
  let bytes = 0;
  let count = 0;

  function releaseFirst(): void {
    const events = waiting.shift();
    if (events === undefined) return;
    count -= events.count;
    bytes -= events.bytes;
    events.release();
  }

  return {
    /**
     * Whether the client is too slow for these events. A single large commit does not make a client slow: it is slow only if it has not
     * read the previous events.
     */
    isBehind: (events: SharedEvents, isFull: () => boolean): boolean =>
      waiting.length > 0 && (count + events.count > MAX_EVENTS || bytes + events.bytes > MAX_BYTES || isFull()),
    add(events: SharedEvents): void {
      waiting.push(events);
      count += events.count;
      bytes += events.bytes;
      events.retain();
    },
    releaseFirst,
    releaseAll(): void {
      while (waiting.length > 0) releaseFirst();
    },
  };
}
