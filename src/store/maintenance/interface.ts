/** Deletion on request. */
export interface DeletionStore {
  /** Numbers of the task, of its children and of their children; empty when there is no such task. */
  findFamily(tenant: string, taskId: string): Promise<number[]>;
  /**
   * Deletes a task that has ended, with its children: from the commit on, no client can find it, its events or its callback. Many of its
   * rows may remain until `purgeDeletedTasks` has removed them.
   */
  deleteTaskIfEnded(tenant: string, taskId: string): Promise<DeletionOutcome>;
  /** Removes one slice of the rows of deleted tasks. Returns the number of removed rows; 0 if none is left. */
  purgeDeletedTasks(): Promise<number>;
  /** Whether the task exists: it was neither deleted nor pruned. */
  isTaskKept(taskSeq: number): Promise<boolean>;
}

/** Retention and the state of the file. */
export interface MaintenanceStore {
  /** Deletes one slice of expired tasks, events, resume tokens, tickets and sessions, or of deleted tasks. Returns the number of rows. */
  prune(olderThanMs: number, limit: number): Promise<number>;
  /** Proves that a write reaches the disk. */
  checkWritable(): Promise<void>;
  /** Postpones the next commit by one turn of the event loop. Calls in many successive turns postpone it by a limited number of turns. */
  postponeCommit(): void;
  /** Checks for damaged pages if opening the store has not done so. Resolves when the check ends; damage is reported as a fault. */
  checkPages(): Promise<void>;
  /** Commits pending writes and closes the file. */
  close(): Promise<void>;
}

/** The result of a deletion: `deleted`, or why nothing was deleted. */
export type DeletionOutcome = "deleted" | "absent" | "unfinished" | "child_unfinished" | "parent_unfinished" | "callback_pending";
