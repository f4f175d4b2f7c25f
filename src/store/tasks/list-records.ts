import type { TaskErrorCode } from "#contract";
import type { ListedTask, TaskState } from "../../task.ts";
import type { CallbackState } from "./records.ts";

/** Which tasks a list contains; undefined means any. */
export interface TaskFilter {
  tenant: string;
  state?: TaskState | undefined;
  provider?: string | undefined;
  agentId?: string | undefined;
  parentTaskId?: string | undefined;
}

/** Selects tasks by further conditions, for which there is no list. */
export interface TaskSearch extends TaskFilter {
  errorCode?: TaskErrorCode | undefined;
  /** The state of their callback. */
  callback?: CallbackState | undefined;
  /** Tasks with a tool call that waits for approval. */
  waitingOn?: "approval" | undefined;
  /** In ms since the epoch. */
  createdAfter?: number | undefined;
  createdBefore?: number | undefined;
  finishedAfter?: number | undefined;
  finishedBefore?: number | undefined;
  idPrefix?: string | undefined;
  /** A task, with all tasks below it. Null: tasks without a parent. */
  root?: string | null | undefined;
  /** A text that their title contains. The case of ASCII letters does not matter. */
  title?: string | undefined;
  /**
   * A text that finds a task by the beginning of its id, by a part of its title or of its agent, or by a label `name=value` whose value
   * begins with the given one. Tasks that it finds by their id come first.
   */
  text?: string | undefined;
  /** Labels that they all have. */
  labels?: readonly Label[] | undefined;
}

/** A label of a task. */
export interface Label {
  name: string;
  value: string;
}

/** A page of a search. It continues with the tasks before `next`; null at the end. */
export interface TaskPage {
  tasks: ListedTask[];
  next: number | null;
}

/** An agent that has stored tasks. `updatedAt` is in ms since the epoch. */
export interface ListedAgent {
  agentId: string;
  /** Number of its tasks that are kept. */
  tasks: number;
  updatedAt: number;
  /** The adapter of its newest task. */
  provider: string;
  /** Id of the node on which it lives; null if it lives on none. Always null on SQLite. */
  node: string | null;
}
