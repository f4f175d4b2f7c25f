import type { EventType } from "#contract";
import type { TaskIdentity, TaskRun } from "../../task.ts";

/** The event log. */
export interface EventStore {
  /**
   * The first half of every event id. Letters and digits only. A store that has lost committed events, for example in a failover, changes
   * it before it publishes further events, because their numbers may repeat. Read it again after each wait.
   */
  readonly epoch: string;
  /** Number of the last published event; 0 when there is none. */
  lastEventNumber(): number;
  /** Publishes the events that other processes have committed before the call. Resolves with the number of the last published event. */
  catchUp(): Promise<number>;
  /**
   * Called after each commit of any process with its events, in number order, each event once. One listener only: the event log. While
   * `needsAll` returns false, the store may leave out the events of other processes whose type is not essential.
   */
  onEvents(listener: (events: readonly StoredEvent[]) => void, needsAll?: () => boolean): void;
  /** Appends to the event log of a running task; returns false if the task has ended. Part of the next commit. */
  appendEventsIfRunning(task: TaskRun, events: readonly NewEvent[]): Promise<boolean>;
  /**
   * Events after a number that match the filter, oldest first. Examines a limited part of the log, so `events` may be empty before the end
   * of the log: continue from `through`.
   */
  readEvents(after: number, filter: EventFilter): Promise<{ events: StoredEvent[]; through: number }>;
  /**
   * A task's events, oldest first: all, those of its execution, or only those of its tool calls. Returns fewer than `limit` if they are
   * long; only an empty list is the last page.
   */
  readTaskEvents(taskSeq: number, after: number, limit: number, kind: TaskEventKind): Promise<StoredEvent[]>;
  /** Number and time of the first kept event with this number or a later one; null when there is none. */
  firstEventFrom(number: number): Promise<{ number: number; at: number } | null>;
  /** Number of the oldest event that is kept, null when there is none. */
  oldestEventNumber(): Promise<number | null>;
  /** Number of the last event that retention has deleted, 0 when there is none. Later events are missing only if their task was deleted. */
  prunedThrough(): Promise<number>;
  /** Whether the task has later events (callback events aside), including events that are not visible to readers yet. */
  hasEventsAfter(taskSeq: number, number: number): Promise<boolean>;
  /** Whether the newest `tool.invoked` or `tool.completed` event of a running task, since its last start, is `tool.invoked`. */
  isInToolCall(taskSeq: number): Promise<boolean>;
}

/** An event as it is stored: `data` is JSON text, which is sent unchanged. `at` is in ms since the epoch. */
export interface StoredEvent {
  number: number;
  task: TaskIdentity;
  type: EventType;
  at: number;
  data: string;
}

/** A selection of a task's events: all, those of its execution, or only those of its tool calls. */
export type TaskEventKind = "all" | "execution" | "toolCalls";

/** An event about to be appended; `data` is JSON text. */
export interface NewEvent {
  type: EventType;
  data: string;
}

/** Which events a reader gets; undefined means any. */
export interface EventFilter {
  tenant: string;
  taskId?: string | undefined;
  agentId?: string | undefined;
  provider?: string | undefined;
  types?: readonly EventType[] | undefined;
}
