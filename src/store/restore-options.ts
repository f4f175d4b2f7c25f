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

/** What a database contains, in any version of its schema: the number of its tasks, and whether it has an event (1 or 0). */
export const heldSql = "SELECT (SELECT count(*) FROM task) AS tasks, (SELECT count(*) FROM (SELECT 1 FROM event LIMIT 1) AS e) AS event";

/** Returns the predicate of a sentence about a database: how many tasks it contains. Null if they could not be counted. */
export const describeTasks = (tasks: number | null): string =>
  tasks === null ? "contains data that cannot be counted" : `contains ${tasks} ${tasks === 1 ? "task" : "tasks"}`;
