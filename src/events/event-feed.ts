import type { EventType } from "#contract";
import type { EventFilter, StoredEvent } from "../store/events/interface.ts";
import type { Store } from "../store/store.ts";
import type { TaskIdentity } from "../task.ts";

export type { EventFilter, StoredEvent } from "../store/events/interface.ts";
/** The part of the store that feeds and their followers read. */
export type EventStore = Pick<
  Store,
  | "epoch"
  | "lastEventNumber"
  | "catchUp"
  | "readEvents"
  | "readTaskEvents"
  | "firstEventFrom"
  | "oldestEventNumber"
  | "prunedThrough"
  | "isTaskKept"
>;

/** A page of a feed. */
export interface FeedPage {
  events: StoredEvent[];
  through: number;
  /** The task of the feed was deleted, so no event follows. */
  isDeleted?: boolean;
}

/** The events that one reader may see. */
export interface EventFeed {
  tenant: string;
  /** Undefined if the feed can contain events of several tasks. */
  taskId: string | undefined;
  /** Feeds of the same tenant and task with equal keys match the same events. */
  key: string;
  /** One page of stored events after a number, oldest first. A page may be empty before the end; the next page starts after `through`. */
  read(after: number): Promise<FeedPage>;
  /** Whether a new event belongs to the feed. */
  matches(event: StoredEvent): boolean;
  /** `oldest`: number of the oldest stored event, or null. `completeFrom`: from this number on, no event of the feed was pruned. */
  readRetained(): Promise<{ oldest: number | null; completeFrom: number }>;
}

/** Creates the feed of a tenant's events that pass the filter. */
export function createLogFeed(store: EventStore, filter: EventFilter): EventFeed {
  const types = filter.types && new Set(filter.types);
  const { tenant, taskId, agentId = null, provider = null } = filter;
  return {
    tenant,
    taskId,
    key: JSON.stringify([agentId, provider, types === undefined ? null : [...types].toSorted()]),
    read: (after) => store.readEvents(after, filter),
    matches: ({ task, type }) =>
      task.tenant === filter.tenant &&
      (filter.taskId === undefined || task.taskId === filter.taskId) &&
      (filter.agentId === undefined || task.agentId === filter.agentId) &&
      (filter.provider === undefined || task.provider === filter.provider) &&
      (types === undefined || types.has(type)),
    async readRetained() {
      return { oldest: await store.oldestEventNumber(), completeFrom: (await store.prunedThrough()) + 1 };
    },
  };
}

/** Events of a task in one page. Pages of long events have fewer. */
const TASK_PAGE = 50;

/** Creates the feed of one task, from `execution.started` to its terminal event. Events of its callback are not part of it. */
export function createTaskFeed(store: EventStore, { seq, tenant, taskId }: Pick<TaskIdentity, "seq" | "tenant" | "taskId">): EventFeed {
  return {
    tenant,
    taskId,
    key: `execution ${seq}`,
    async read(after) {
      const last = store.lastEventNumber();
      const events = await store.readTaskEvents(seq, after, TASK_PAGE, "execution");
      const through = events.at(-1)?.number ?? Math.max(after, last);
      // A deleted task has no terminal event that would end its stream.
      return events.length === 0 && !(await store.isTaskKept(seq)) ? { events, through, isDeleted: true } : { events, through };
    },
    matches: ({ task, type }) => task.seq === seq && isExecutionEvent(type),
    async readRetained() {
      const [first] = await store.readTaskEvents(seq, 0, 1, "execution");
      // If the first event is still stored, no event of the task was pruned.
      if (first?.type === "execution.started") return { oldest: first.number, completeFrom: 1 };
      return { oldest: first?.number ?? null, completeFrom: (await store.prunedThrough()) + 1 };
    },
  };
}

const isExecutionEvent = (type: EventType): boolean => !type.startsWith("callback.");

/** Whether the event is the last one of its task's feed. */
export const isTerminal = ({ type }: StoredEvent): boolean => type === "execution.completed" || type === "execution.failed";
