import type { StoredRow } from "../tasks/rows.ts";
import type { DeletionOutcome } from "./interface.ts";

/** Tenant of deleted tasks. No token belongs to it, so no client can find a task while its rows are being removed. */
export const DELETED_TENANT = "";

/** The tables of SQLite with short rows of a task. */
export const taskTables: readonly string[] = [
  "callback_dedup",
  "callback",
  "approval",
  "stop_request",
  "task_summary",
  "task_label",
  "task_budget",
  "task_wait",
];

/** Approximate limits of one slice of the rows of deleted tasks. */
export const PURGE_SLICE = { bytes: 1024 * 1024, rows: 1000 } as const;

/** The rows that decide about a deletion, with the column `finished_at`. */
interface DeletedFamily {
  task: StoredRow;
  parent: StoredRow | undefined;
  /** The task and everything below it, also with the column `callback`: the state of the callback. */
  family: readonly StoredRow[];
}

/** Returns why a task cannot be deleted; null if it can. */
export function findObstacle({ task, parent, family }: DeletedFamily): DeletionOutcome | null {
  const isUnfinished = (row: StoredRow | undefined): boolean => row !== undefined && row["finished_at"] === null;
  if (isUnfinished(task)) return "unfinished";
  if (isUnfinished(parent)) return "parent_unfinished";
  if (family.some(isUnfinished)) return "child_unfinished";
  return family.some(({ callback }) => callback === "pending") ? "callback_pending" : null;
}
