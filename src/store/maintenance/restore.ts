import type { DatabaseCounts } from "./backup-file.ts";

/** How a database is restored. */
export interface RestoreOptions {
  /** Whether a database that contains tasks is replaced. */
  isForced: boolean;
  /** Whether the backup has a manifest. */
  hasManifest: boolean;
}

/** The result of a restore. */
export interface Restored {
  /** When the backup was made; null without a manifest. */
  createdAt: string | null;
  schemaVersion: number;
  counts: DatabaseCounts;
  /** The new epoch of the event ids. */
  epoch: string;
  /** Where the replaced database was kept; null if it was empty or not kept. */
  replaced: string | null;
  /** The number of tasks that the replaced database contained; null if they could not be counted. */
  replacedTasks: number | null;
}

/** Whether a database contains tasks or events, in any version of its schema. */
export const findsDataSql = "SELECT EXISTS (SELECT 1 FROM task) OR EXISTS (SELECT 1 FROM event) AS found";

/**
 * Returns the predicate of a sentence about a database that is not empty: how many tasks it contains. `tasks` is null if they could not be
 * counted.
 */
export function describeTasks(tasks: number | null): string {
  if (tasks === null) return "contains data, and its tasks cannot be counted";
  return tasks === 0 ? "contains events, but no tasks" : `contains ${tasks} ${tasks === 1 ? "task" : "tasks"}`;
}
