import type { StoredEvent } from "./interface.ts";

/** Events of own commits that are held while earlier events are read. Beyond it, they are read from the log, too. */
const MAX_HELD_EVENTS = 10_000;

/** The events with numbers after `after` up to `through`. */
export interface LogRange {
  readonly after: number;
  readonly through: number;
}

/** A part of the log. */
export interface LogPage {
  /** In number order. All events of the ranges are in it, unless it is cut. */
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
  /** Reads ranges that follow each other: all events, or at least the essential ones. Sees every commit that ended before the call. */
  read(ranges: readonly LogRange[], needsAll: boolean): Promise<LogPage>;
  /** Whether events of other nodes that are not essential are needed now. */
  needsAll(): boolean;
  /** Called at most once per read, because a client that gets several parts at once counts as slow. */
  publish(events: readonly StoredEvent[]): void;
  /** Called after each read with the number of events that this node had not published. */
  onLag(events: number): void;
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
  /** The log has lost the events after this number, which may be other ones from now on. */
  rewind(number: number): void;
}

/**
 * Creates the tail of a node: it publishes each event once, in number order. Events become visible in the order of their numbers, so a read
 * that finds an event finds all earlier ones that were not deleted.
 */
export function createEventTail({ start, read, needsAll, publish, onLag, onMissing }: EventTailOptions): EventTail {
  let last = start;
  /** Own commits that earlier events of other nodes precede, in number order. */
  let held: (readonly StoredEvent[])[] = [];
  /** How often the log has lost events. What was read before is outdated. */
  let rewinds = 0;
  let current: Promise<number> | null = null;
  let next: Promise<number> | null = null;

  /** Takes events that join on. Returns them without those that were taken before. */
  function take(events: readonly StoredEvent[]): readonly StoredEvent[] {
    const unseen = firstOf(events) > last ? events : events.filter(({ number }) => number > last);
    last = unseen.at(-1)?.number ?? last;
    return unseen;
  }

  function publishAll(parts: readonly (readonly StoredEvent[])[]): void {
    const [first = [], ...others] = parts.filter(({ length }) => length > 0);
    if (first.length > 0) publish(others.length === 0 ? first : [first, ...others].flat());
  }

  async function readToEnd(): Promise<number> {
    for (;;) {
      const [known, isWhole, rewindsBefore] = [held, needsAll(), rewinds];
      const page = await read(rangesBetween(last, known), isWhole);
      // The page is outdated, or a client has begun to follow events that it lacks.
      if (rewinds !== rewindsBefore || (!isWhole && needsAll())) continue;
      onLag(Math.max(0, page.last - last));
      publishPage(page, known);
      if (page.isCut) continue;
      if (held.length > 0) onMissing();
      return last;
    }
  }

  /** Publishes a page together with the own commits that join on. `known` are those that were held when it was read. */
  function publishPage(page: LogPage, known: readonly (readonly StoredEvent[])[]): void {
    // The server has lost commits that it had acknowledged.
    const isLost = page.last < lastOf(known.at(-1) ?? []);
    const own = isLost ? [] : [...known, ...held.filter((events) => !known.includes(events))];
    const through = page.isCut ? lastOf(page.events) : page.last;
    const parts: (readonly StoredEvent[])[] = [];
    let rest = page.events;
    held = [];
    let reached = Math.max(last, through);
    for (const events of own) {
      if (firstOf(events) > reached + 1) {
        held.push(events);
        continue;
      }
      const before = rest.filter(({ number }) => number < firstOf(events));
      rest = rest.slice(before.length);
      parts.push(take(before), take(events));
      reached = Math.max(reached, last);
    }
    parts.push(take(rest));
    last = Math.max(last, reached);
    publishAll(parts);
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
      if (events !== null && held.length === 0 && firstOf(events) <= last + 1) return publishAll([take(events)]);
      if (events !== null) held = [...held, events];
      if (held.reduce((sum, { length }) => sum + length, 0) > MAX_HELD_EVENTS) held = [];
      onMissing();
    },
    catchUp,
    rewind(number) {
      rewinds += 1;
      last = Math.min(last, number);
      held = [];
    },
  };
}

/** Returns the ranges after `last` that are missing: those before, between and after own commits that are held. */
function rangesBetween(last: number, held: readonly (readonly StoredEvent[])[]): LogRange[] {
  const afters = [last, ...held.map(lastOf)];
  const throughs = [...held.map((events) => firstOf(events) - 1), Number.MAX_SAFE_INTEGER];
  return afters.map((after, index) => ({ after, through: throughs[index] as number })).filter(({ after, through }) => after < through);
}

const firstOf = (events: readonly StoredEvent[]): number => events[0]?.number ?? 0;
const lastOf = (events: readonly StoredEvent[]): number => events.at(-1)?.number ?? 0;
