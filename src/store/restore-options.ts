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
}
