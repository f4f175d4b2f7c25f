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
  /** The child tasks of the rows that are open. */
  const open = new Map<string, readonly string[]>();
  /** The listed rows with the child tasks below them; null after a change. */
  let entries: readonly Entry[] | null = null;
  const recent = createRecentEvents();

  function finish(mark: SnapshotMark): void {
    for (const event of recent.finish(mark)) applyEvent(event);
  }

  function applyEvent(event: FeedEvent): void {
    const row = rows.get(event.taskId);
    if (row !== undefined) rows.set(event.taskId, patchRow(row, event));
  }

  function listEntries(): readonly Entry[] {
    entries ??= flatten(order, open);
    return entries;
  }

  return {
    /** Returns the rows from one index to another, which is exclusive. The newest one is first, and child tasks are below their parent. */
    list: (first: number, last: number): Row[] =>
      listEntries()
        .slice(first, last)
        .map(({ id }) => rows.get(id) as Row),
    /** Returns how deep a row is below a listed one, which has the level 0. */
    levelAt: (index: number): number => listEntries()[index]?.level ?? 0,
    get length(): number {
      return listEntries().length;
    },
    /** The tasks whose child tasks are listed. */
    get opened(): string[] {
      return [...open.keys()];
    },
    isOpen: (taskId: string): boolean => open.has(taskId),
    /** Lists the child tasks of a row below it, the oldest one first. */
    showChildren(mark: SnapshotMark, taskId: string, tasks: readonly Row[]): void {
      for (const task of tasks) rows.set(task.taskId, task);
      open.set(
        taskId,
        tasks.map((task) => task.taskId),
      );
      entries = null;
      finish(mark);
    },
    hideChildren(taskId: string): void {
      open.delete(taskId);
      entries = null;
    },
    /** Marks the time of a request. */
    begin: recent.begin,
    /** Forgets a request that failed. */
    abandon: finish,
    /** Applies the first page. Older rows stay, and rows that the page no longer contains are removed. */
    applyFirst(mark: SnapshotMark, tasks: readonly Row[], hasMore: boolean): void {
      const listed = new Set(tasks.map(({ taskId }) => taskId));
      const oldest = tasks.at(-1)?.createdAt ?? "";
      const older = hasMore ? order.filter((id) => !listed.has(id) && (rows.get(id)?.createdAt ?? "") <= oldest) : [];
      const kept = new Set(older);
      const nested = new Set([...open.values()].flat());
      for (const id of order) if (!listed.has(id) && !kept.has(id) && !nested.has(id)) rows.delete(id);
      for (const task of tasks) rows.set(task.taskId, task);
      order = [...listed, ...older];
      for (const id of open.keys()) if (!rows.has(id)) open.delete(id);
      entries = null;
      finish(mark);
    },
    /** Appends a further page. */
    append(mark: SnapshotMark, tasks: readonly Row[]): void {
      const listed = new Set(order);
      order = [...order, ...tasks.filter(({ taskId }) => !listed.has(taskId)).map(({ taskId }) => taskId)];
      for (const task of tasks) rows.set(task.taskId, task);
      entries = null;
      finish(mark);
    },
    /** Applies events. Returns whether one belongs to a task that the list does not contain. */
    patch(events: readonly FeedEvent[]): boolean {
      let hasUnknown = false;
      for (const event of events) {
        recent.add(event);
        hasUnknown ||= !rows.has(event.taskId);
        applyEvent(event);
      }
      return hasUnknown;
    },
  };
}

/** Creates the list of the events since the oldest request that is pending. */
function createRecentEvents() {
  let events: { number: number; event: FeedEvent }[] = [];
  let nextNumber = 0;
  const pending: SnapshotMark[] = [];
  return {
    begin(): SnapshotMark {
      pending.push(nextNumber);
      return nextNumber;
    },
    add(event: FeedEvent): void {
      if (pending.length > 0) events.push({ number: nextNumber, event });
      nextNumber += 1;
    },
    /** Ends a request. Returns the events since it began. */
    finish(mark: SnapshotMark): FeedEvent[] {
      pending.splice(pending.indexOf(mark), 1);
      const since = events.filter(({ number }) => number >= mark).map(({ event }) => event);
      const oldest = Math.min(...pending, nextNumber);
      events = events.filter(({ number }) => number >= oldest);
      return since;
    },
  };
}

interface Entry {
  id: string;
  level: number;
}

/** Returns the listed tasks with those below them. A task that is listed below its parent is not listed again. */
function flatten(order: readonly string[], open: ReadonlyMap<string, readonly string[]>): Entry[] {
  const entries: Entry[] = [];
  const nested = new Set([...open.values()].flat());
  const add = (id: string, level: number): void => {
    entries.push({ id, level });
    for (const child of open.get(id) ?? []) add(child, level + 1);
  };
  for (const id of order) if (!nested.has(id)) add(id, 0);
  return entries;
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
