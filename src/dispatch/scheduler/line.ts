import { createTally, type QueueTally } from "./queue-tally.ts";

/** The waiting tasks of one share and kind that this node may start. */
export interface Line {
  readonly queued: QueueTally;
  /** Claims in progress. Each will take one of the queued tasks. */
  claiming: number;
  /** The last claim found no task, and nothing has changed since. */
  blocked: boolean;
  changes: number;
}

/** Creates a line without tasks. */
export const createLine = (): Line => ({ queued: createTally(), claiming: 0, blocked: false, changes: 0 });

/** Whether a task of the line may be able to start. */
export const hasNext = ({ queued, claiming, blocked }: Line): boolean => queued.count > claiming && !blocked;

/** Whether the line counts or claims a task. */
export const isInUse = ({ queued, claiming }: Line): boolean => queued.count > 0 || queued.arriving > 0 || claiming > 0;

/** A task of the line may be able to start again. */
export function unblock(line: Line): void {
  line.blocked = false;
  line.changes += 1;
}
