import type { DatabaseCounts } from "./backup-manifest.ts";

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

/** Returns the predicate of a sentence about a database: how many tasks it contains. Null if they could not be counted. */
export const describeTasks = (tasks: number | null): string =>
  tasks === null ? "contains data that cannot be counted" : `contains ${tasks} ${tasks === 1 ? "task" : "tasks"}`;
