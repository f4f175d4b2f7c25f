import type { StoredEvent } from "../records.ts";

/** Events of own commits that are held while earlier events are read. Beyond it, they are read from the log, too. */
const MAX_HELD_EVENTS = 10_000;

/** A part of the log. */
export interface LogPage {
  /** In number order. All events of the range are in it, unless it is cut. */
  readonly events: readonly StoredEvent[];
  /** Whether the page is full, so that more events may follow. */
  readonly isCut: boolean;
  /** Number of the last event that was stored, even if it was deleted since. */
  readonly last: number;
}

/** Options of a tail. */
export interface EventTailOptions {
  /** Number of the last event that counts as published. */
  start: number;
  /** Reads the events with numbers after `after` up to `through`. Sees every commit that ended before the call. */
  read(after: number, through: number): Promise<LogPage>;
  /** Called at most once per read, because a client that gets several parts at once counts as slow. */
  publish(events: readonly StoredEvent[]): void;
  /** Called when own events wait for earlier ones, or have unknown numbers. A call of `catchUp` must follow. */
  onMissing(): void;
}

/** Publishes the events of all nodes on one node. */
export interface EventTail {
  /** Number of the last published event. */
  lastEventNumber(): number;
  /** Takes the events of an own commit. Null: there are some, but their numbers are unknown. */
  addOwn(events: readonly StoredEvent[] | null): void;
  /** Publishes what was committed before the call. Resolves with the number of the last published event. */
  catchUp(): Promise<number>;
}

/**
 * Creates the tail of a node: it publishes each event once, in number order. Events become visible in the order of their numbers, so a read
 * that finds an event finds all earlier ones that were not deleted.
 */
export function createEventTail({ start, read, publish, onMissing }: EventTailOptions): EventTail {
  let last = start;
  /** Own commits that earlier events of other nodes precede, in number order. */
  let held: (readonly StoredEvent[])[] = [];
  let current: Promise<number> | null = null;
  let next: Promise<number> | null = null;

  /** Takes events that join on. Returns them without those that were taken before. */
  function take(events: readonly StoredEvent[]): readonly StoredEvent[] {
    const unseen = firstOf(events) > last ? events : events.filter(({ number }) => number > last);
    last = unseen.at(-1)?.number ?? last;
    return unseen;
  }

  /** Takes the own commits that join on. */
  function takeHeld(): (readonly StoredEvent[])[] {
    const taken: (readonly StoredEvent[])[] = [];
    for (let [events] = held; events !== undefined && firstOf(events) <= last + 1; [events] = held) {
      held.shift();
      taken.push(take(events));
    }
    return taken;
  }

  function publishAll(parts: readonly (readonly StoredEvent[])[]): void {
    const [first = [], ...others] = parts.filter(({ length }) => length > 0);
    if (first.length > 0) publish(others.length === 0 ? first : [first, ...others].flat());
  }

  async function readToEnd(): Promise<number> {
    for (;;) {
      const isBeforeHeld = held[0] !== undefined;
      const through = held[0] === undefined ? Number.MAX_SAFE_INTEGER : firstOf(held[0]) - 1;
      const page = await read(last, through);
      const parts = [take(page.events)];
      if (!page.isCut) last = Math.max(last, Math.min(through, page.last));
      // The server has lost commits that it had acknowledged.
      if (isBeforeHeld && page.last < through) held = [];
      publishAll([...parts, ...takeHeld()]);
      if (!page.isCut && held.length === 0 && last >= page.last) return last;
    }
  }

  function startReading(): Promise<number> {
    current = readToEnd().finally(() => {
      current = null;
    });
    return current;
  }

  function catchUp(): Promise<number> {
    if (current === null) return startReading();
    // The read that is under way may not see the latest commits.
    next ??= current
      .catch(() => null)
      .then(() => {
        next = null;
        return startReading();
      });
    return next;
  }

  return {
    lastEventNumber: () => last,
    addOwn(events) {
      if (events?.length === 0) return;
      if (events !== null) held.push(events);
      publishAll(takeHeld());
      if (events !== null && held.length === 0) return;
      if (held.reduce((sum, { length }) => sum + length, 0) > MAX_HELD_EVENTS) held = [];
      onMissing();
    },
    catchUp,
  };
}

const firstOf = (events: readonly StoredEvent[]): number => events[0]?.number ?? 0;
