import type { TaskIdentity } from "../../task.ts";
import { createLengthLimit, type Row, type SqliteDriver } from "../engines/sqlite/driver.ts";
import type { EventFilter, EventStore, NewEvent, StoredEvent } from "./interface.ts";
import { eventColumns, taskEventConditions, toStoredEvent } from "./rows.ts";

/** Maximum events that one read examines, so that a reader with a narrow filter does not block the others. */
const MAX_EXAMINED_EVENTS = 250;

/** The operations of the event log. One counter assigns the numbers; events are published after their commit. */
export function createEventOperations(driver: SqliteDriver, clock: () => number) {
  let committed = Number(driver.get("SELECT value FROM counter WHERE name = 'event'")?.["value"]);
  let last = committed;
  /** The last event that is visible to readers. Events of one turn become visible together, even if they need several commits. */
  let published = committed;
  let appended: StoredEvent[] = [];
  let unpublished: StoredEvent[] = [];
  let publish: (events: readonly StoredEvent[]) => void = () => {};
  const toolCalls = createOpenToolCalls();

  /** Appends inside an operation that is already running. */
  function append(task: TaskIdentity, event: NewEvent, at = clock()): void {
    appendAll(task, [event], at);
  }

  function appendAll(task: TaskIdentity, events: readonly NewEvent[], at: number): void {
    let start = 0;
    for (const { rows, sql } of inserts) {
      for (; start + rows <= events.length; start += rows) {
        const values: (string | number)[] = [];
        for (const { type, data } of events.slice(start, start + rows)) {
          last += 1;
          values.push(last, task.seq, type, at, data);
          appended.push({ number: last, task, type, at, data });
        }
        driver.run(sql, ...values);
      }
    }
  }

  function publishCommitted(): void {
    published = committed;
    const events = unpublished;
    unpublished = [];
    toolCalls.follow(events);
    if (events.length > 0) publish(events);
  }

  driver.attach({
    beforeCommit(): void {
      if (last !== committed) driver.run("UPDATE counter SET value = ? WHERE name = 'event'", last);
    },
    afterCommit({ isLast }: { isLast: boolean }): void {
      committed = last;
      unpublished = unpublished.length === 0 ? appended : [...unpublished, ...appended];
      appended = [];
      if (isLast) publishCommitted();
    },
    afterRollback(): void {
      last = committed;
      appended = [];
      publishCommitted();
    },
    mark(): { undo(): void } {
      const [number, count] = [last, appended.length];
      return {
        undo() {
          last = number;
          appended.length = count;
        },
      };
    },
  });

  const operations = {
    lastEventNumber: () => published,
    // No other process writes to the database.
    catchUp: async () => published,
    onEvents(listener) {
      publish = listener;
    },
    appendEventsIfRunning: (task, events) =>
      driver.write(
        () => {
          if (driver.get(selectRun, task.seq, task.restarts) === undefined) return false;
          appendAll(task, events, clock());
          return true;
        },
        { lazy: true, patient: true, bytes: events.reduce((sum, { data }) => sum + data.length, 0) },
      ),
    ...createEventReads(driver, () => published),
    isInToolCall: async (taskSeq) => toolCalls.has(taskSeq),
  } satisfies Partial<EventStore>;

  return { append, toolCalls, operations };
}

/** Reads the log up to the last event that is visible to readers. */
function createEventReads(driver: SqliteDriver, published: () => number) {
  return {
    async readEvents(after, filter) {
      const end = Math.min(after + MAX_EXAMINED_EVENTS, published());
      const { sql, parameters } = filterSql(filter);
      const statement = `${selectEvents} WHERE e.number > ? AND e.number <= ? AND ${sql} ORDER BY e.number`;
      const isLongEnough = createLengthLimit("data");
      let isFull = false;
      const takeUntilFull = (row: Row): boolean => {
        isFull = isLongEnough(row);
        return isFull;
      };
      const events = driver.allUntil(takeUntilFull, statement, after, end, ...parameters).map(toStoredEvent);
      return { events, through: isFull ? (events.at(-1)?.number ?? end) : end };
    },
    readTaskEvents: async (taskSeq, after, limit, kind) =>
      driver
        .allUntil(
          createLengthLimit("data"),
          `${selectEvents} WHERE e.task = ? AND t.tenant <> '' AND e.number > ? AND e.number <= ? AND ${taskEventConditions[kind]} ORDER BY e.number LIMIT ?`,
          taskSeq,
          after,
          published(),
          limit,
        )
        .map(toStoredEvent),
    async firstEventFrom(number) {
      const row = driver.get("SELECT number, at FROM event WHERE number >= ? AND number <= ? ORDER BY number LIMIT 1", number, published());
      return row === undefined ? null : { number: Number(row["number"]), at: Number(row["at"]) };
    },
    oldestEventNumber: async () => (driver.get("SELECT min(number) AS number FROM event")?.["number"] as number | null) ?? null,
    prunedThrough: async () => Number(driver.get("SELECT value FROM counter WHERE name = 'pruned'")?.["value"]),
    hasEventsAfter: async (taskSeq, number) =>
      driver.get("SELECT 1 AS more FROM event WHERE task = ? AND number > ? AND type NOT LIKE 'callback.%' LIMIT 1", taskSeq, number) !==
      undefined,
  } satisfies Partial<EventStore>;
}

/** One statement for many rows takes less time than one per row. Each number of rows is a statement that stays prepared. */
const inserts = [16, 4, 1].map((rows) => ({
  rows,
  sql: `INSERT INTO event (number, task, type, at, data) VALUES ${Array(rows).fill("(?, ?, ?, ?, ?)").join(", ")}`,
}));

/** Finds a task that is in this run. */
export const selectRun = "SELECT 1 AS running FROM task WHERE seq = ? AND state = 'running' AND restarts = ?";

const selectEvents = `SELECT ${eventColumns} FROM event e CROSS JOIN task t ON t.seq = e.task`;

function filterSql(filter: EventFilter): { sql: string; parameters: string[] } {
  const terms = ["t.tenant = ?"];
  const parameters = [filter.tenant];
  for (const [column, value] of [
    ["t.id", filter.taskId],
    ["t.agent_id", filter.agentId],
    ["t.provider", filter.provider],
  ] as const) {
    if (value === undefined) continue;
    terms.push(`${column} = ?`);
    parameters.push(value);
  }
  if (filter.types !== undefined) {
    terms.push(`e.type IN (${filter.types.map(() => "?").join(", ")})`);
    parameters.push(...filter.types);
  }
  return { sql: terms.join(" AND "), parameters };
}

/**
 * Creates the set of tasks in a tool call. One process runs all tasks, and a restart ends them or starts them again, so memory suffices.
 * The newest tool event of a task can precede any number of other events, so a query would need a separate index.
 */
function createOpenToolCalls() {
  /** Numbers of the tasks. */
  const open = new Set<number>();
  return {
    /** Updates the set with newly published events. */
    follow(events: readonly StoredEvent[]): void {
      for (const { type, task } of events) {
        if (type === "tool.invoked") open.add(task.seq);
        else if (type === "tool.completed" || type === "execution.completed" || type === "execution.failed") open.delete(task.seq);
      }
    },
    has: (taskSeq: number): boolean => open.has(taskSeq),
    /** Call it after the commit that returns a task to the queue. */
    forget: ({ seq }: Pick<TaskIdentity, "seq">): void => void open.delete(seq),
  };
}
