import type { EventFeed, StoredEvent } from "./event-feed.ts";

/** Receives the new events of a feed, in number order. */
export type EventListener = (events: readonly StoredEvent[]) => void;

/** The part of a feed that selects new events. */
export interface LiveFeed extends Pick<EventFeed, "tenant" | "taskId" | "key" | "matches"> {
  /** Whether all its events are essential (`essentialEvents`), so that this process needs no others because of it. */
  isEssential?: boolean;
}

/** The listeners of all feeds with one key. */
interface Group {
  matches: EventFeed["matches"];
  listeners: Set<EventListener>;
}

/**
 * Creates the index of the feeds that have listeners. A commit is filtered once per feed instead of once per listener, and only by feeds of
 * its tenants and tasks. Feeds that select all of these events pass the same array, so that their listeners can share what they derive from
 * it.
 */
export function createLiveFeeds(onError: (error: unknown) => void) {
  /** By tenant or task, then by the key of the feed. */
  const topics = new Map<string, Map<string, Group>>();
  /** Listeners of feeds that are not essential. */
  let readers = 0;

  function publish(events: readonly StoredEvent[]): void {
    if (topics.size === 0) return;
    for (const [tenant, ofTenant] of groupBy(events, ({ task }) => task.tenant)) {
      publishTo(formatTopic(tenant), ofTenant);
      for (const [taskId, ofTask] of groupBy(ofTenant, ({ task }) => task.taskId)) publishTo(formatTopic(tenant, taskId), ofTask);
    }
  }

  function publishTo(topic: string, events: readonly StoredEvent[]): void {
    for (const { matches, listeners } of topics.get(topic)?.values() ?? []) {
      const matching = events.every(matches) ? events : events.filter(matches);
      if (matching.length > 0) callAll(listeners, matching, onError);
    }
  }

  return {
    publish,
    /** Whether a feed has a listener that can match any event. */
    needsAll: (): boolean => readers > 0,
    /** Calls the listener synchronously after each commit with events of the feed. Returns the function that ends this. */
    follow({ tenant, taskId, key, matches, isEssential = false }: LiveFeed, listener: EventListener): () => void {
      const topic = formatTopic(tenant, taskId);
      const groups = topics.get(topic) ?? new Map<string, Group>();
      topics.set(topic, groups);
      const group = groups.get(key) ?? { matches, listeners: new Set() };
      groups.set(key, group);
      group.listeners.add(listener);
      if (!isEssential) readers += 1;
      return () => {
        if (group.listeners.delete(listener) && !isEssential) readers -= 1;
        if (group.listeners.size === 0 && groups.get(key) === group) groups.delete(key);
        if (groups.size === 0 && topics.get(topic) === groups) topics.delete(topic);
      };
    },
  };
}

/** Calls all listeners, even if one throws. */
export function callAll(listeners: Iterable<EventListener>, events: readonly StoredEvent[], onError: (error: unknown) => void): void {
  for (const listener of listeners) {
    try {
      listener(events);
    } catch (error) {
      onError(error);
    }
  }
}

const formatTopic = (tenant: string, taskId?: string): string => JSON.stringify([tenant, taskId]);

/** Like `Map.groupBy`, but a single group is the given array. */
function groupBy(events: readonly StoredEvent[], keyOf: (event: StoredEvent) => string): Map<string, readonly StoredEvent[]> {
  const groups: Map<string, readonly StoredEvent[]> = Map.groupBy(events, keyOf);
  return groups.size === 1 ? new Map([...groups.keys()].map((key) => [key, events])) : groups;
}
