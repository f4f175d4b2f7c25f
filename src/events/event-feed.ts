import type { EventType } from "#contract";
import type { EventFilter, Store, StoredEvent } from "../store/store.ts";
import type { TaskIdentity } from "../task.ts";

export type { EventFilter, StoredEvent } from "../store/store.ts";
/** What feeds and their followers need of the store. */
export type EventStore = Pick<
  Store,
  "epoch" | "lastEventNumber" | "readEvents" | "readTaskEvents" | "oldestEventNumber" | "prunedThrough" | "isTaskKept"
>;

/** A page of a feed. */
export interface FeedPage {
  events: StoredEvent[];
  through: number;
  /** The task of the feed was deleted: nothing follows. */
  isOver?: boolean;
}

/** The part of the log that one reader may see, from the past into the present. */
export interface EventFeed {
  /** One page of stored events after a number, oldest first. The page may be empty before the end: go on from `through`. */
  read(after: number): Promise<FeedPage>;
  /** Does a new event belong to it? */
  matches(event: StoredEvent): boolean;
  /** The oldest number kept, null when there is none; and the number from which on nothing of this feed was pruned. */
  kept(): Promise<{ oldest: number | null; completeFrom: number }>;
}

/** The whole log of a tenant, filtered. */
export function createLogFeed(store: EventStore, filter: EventFilter): EventFeed {
  const types = filter.types && new Set(filter.types);
  return {
    read: (after) => store.readEvents(after, filter),
    matches: ({ task, type }) =>
      task.tenant === filter.tenant &&
      (filter.taskId === undefined || task.taskId === filter.taskId) &&
      (filter.agentId === undefined || task.agentId === filter.agentId) &&
      (filter.provider === undefined || task.provider === filter.provider) &&
      (types === undefined || types.has(type)),
    async kept() {
      return { oldest: await store.oldestEventNumber(), completeFrom: (await store.prunedThrough()) + 1 };
    },
  };
}

/** Events of a task in one page, fewer where they are long. */
const TASK_PAGE = 50;

/** The story of one task, from `execution.started` to its terminal event; what becomes of its callback is not part of it. */
export function createTaskFeed(store: EventStore, { seq }: Pick<TaskIdentity, "seq">): EventFeed {
  return {
    async read(after) {
      const last = store.lastEventNumber();
      const events = await store.readTaskEvents(seq, after, TASK_PAGE, { callbacks: false });
      const through = events.at(-1)?.number ?? Math.max(after, last);
      // A task that was deleted has no terminal event, which would end its stream.
      return events.length === 0 && !(await store.isTaskKept(seq)) ? { events, through, isOver: true } : { events, through };
    },
    matches: ({ task, type }) => task.seq === seq && isStoryEvent(type),
    async kept() {
      const [first] = await store.readTaskEvents(seq, 0, 1, { callbacks: false });
      // A story that begins with its beginning lacks nothing, however much of the log is gone.
      if (first?.type === "execution.started") return { oldest: first.number, completeFrom: 1 };
      return { oldest: first?.number ?? null, completeFrom: (await store.prunedThrough()) + 1 };
    },
  };
}

const isStoryEvent = (type: EventType): boolean => !type.startsWith("callback.");

/** Does the event end its task's story? */
export const isTerminal = ({ type }: StoredEvent): boolean => type === "execution.completed" || type === "execution.failed";
