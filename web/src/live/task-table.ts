import type { ListedTask as Row, TaskErrorCode } from "bridge-client";
import type { FeedEvent } from "./feed.ts";

export type { Row };

/** Marks the time at which a request for a page was sent. */
export type SnapshotMark = number;

/**
 * Creates the rows of a list that snapshots and events update. A snapshot that was requested before an event must not undo it, so the
 * events since then are applied again after the snapshot.
 */
export function createTaskTable() {
  const rows = new Map<string, Row>();
  let order: string[] = [];
  /** Events since the oldest pending request. */
  let patches: { number: number; event: FeedEvent }[] = [];
  let nextNumber = 0;
  const pending: SnapshotMark[] = [];

  function begin(): SnapshotMark {
    const mark = nextNumber;
    pending.push(mark);
    return mark;
  }

  function finish(mark: SnapshotMark): void {
    pending.splice(pending.indexOf(mark), 1);
    for (const { number, event } of patches) if (number >= mark) applyEvent(event);
    const oldest = Math.min(...pending, nextNumber);
    patches = patches.filter(({ number }) => number >= oldest);
  }

  function applyEvent(event: FeedEvent): void {
    const row = rows.get(event.taskId);
    if (row !== undefined) rows.set(event.taskId, patchRow(row, event));
  }

  return {
    /** Returns the rows from one index to another, which is exclusive. The newest one is first. */
    list: (first: number, last: number): Row[] => order.slice(first, last).map((id) => rows.get(id) as Row),
    get length(): number {
      return order.length;
    },
    begin,
    /** Forgets a request that failed. */
    abandon: finish,
    /** Applies the first page. Older rows stay, and rows that the page no longer contains are removed. */
    applyFirst(mark: SnapshotMark, tasks: readonly Row[], hasMore: boolean): void {
      const listed = new Set(tasks.map(({ taskId }) => taskId));
      const oldest = tasks.at(-1)?.createdAt ?? "";
      const older = hasMore ? order.filter((id) => !listed.has(id) && (rows.get(id)?.createdAt ?? "") <= oldest) : [];
      const kept = new Set(older);
      for (const id of order) if (!listed.has(id) && !kept.has(id)) rows.delete(id);
      for (const task of tasks) rows.set(task.taskId, task);
      order = [...listed, ...older];
      finish(mark);
    },
    /** Appends a further page. */
    append(mark: SnapshotMark, tasks: readonly Row[]): void {
      order = [...order, ...tasks.filter(({ taskId }) => !rows.has(taskId)).map(({ taskId }) => taskId)];
      for (const task of tasks) rows.set(task.taskId, task);
      finish(mark);
    },
    /** Applies events. Returns whether one belongs to a task that the list does not contain. */
    patch(events: readonly FeedEvent[]): boolean {
      let hasUnknown = false;
      for (const event of events) {
        if (pending.length > 0) patches.push({ number: nextNumber, event });
        nextNumber += 1;
        hasUnknown ||= !rows.has(event.taskId);
        applyEvent(event);
      }
      return hasUnknown;
    },
  };
}

/** Returns the row after an event. An event that is older than the row, such as the start of an ended task, changes nothing. */
function patchRow(row: Row, { type, timestamp, errorCode }: FeedEvent): Row {
  const isOpen = row.state === "queued" || row.state === "running";
  switch (type) {
    case "execution.started":
      return row.state === "queued"
        ? { ...row, state: "running", startedAt: timestamp, lastProgressAt: timestamp, waitingOn: null, queuedBecause: null }
        : row;
    case "execution.completed":
      return isOpen ? { ...row, state: "completed", finishedAt: timestamp, waitingOn: null, queuedBecause: null } : row;
    case "execution.failed":
      return isOpen
        ? {
            ...row,
            state: errorCode === "cancelled" ? "cancelled" : "failed",
            errorCode: errorCode as TaskErrorCode | null,
            finishedAt: timestamp,
            waitingOn: null,
            queuedBecause: null,
          }
        : row;
    case "tool.approval_requested":
      return row.state === "running" ? { ...row, waitingOn: "approval", lastProgressAt: timestamp } : row;
    case "tool.approval_resolved":
      return row.state === "running" ? { ...row, waitingOn: null, lastProgressAt: timestamp } : row;
    case "callback.delivered":
      return row.callback === null ? row : { ...row, callback: { ...row.callback, state: "delivered" } };
    case "callback.dead":
      return row.callback === null ? row : { ...row, callback: { ...row.callback, state: "dead" } };
    default:
      return row;
  }
}
