import type { EventType } from "#contract";
import type { TaskRun } from "../../task.ts";
import type { AnyKind } from "../engines/postgres/batch-transaction.ts";
import type { OperationKind } from "../engines/postgres/operation-kind.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { cutPage, isFull, toStatement } from "../engines/postgres/statements.ts";
import type { EventStore, NewEvent } from "./interface.ts";
import type { LogPage, LogRange } from "./postgres-tail.ts";
import { eventColumns, isExecution, taskEventConditions, toStoredEvent } from "./rows.ts";

/** Maximum events that one read of a client examines, so that a reader with a narrow filter does not keep a connection. */
const MAX_EXAMINED_EVENTS = 250;

/** Maximum events that the tail reads at once. */
const MAX_TAIL_EVENTS = 500;

/** Reads the event log. Clients see no event before the tail of their node has published it. */
export function createEventReads(reader: Reader, lastPublished: () => number) {
  return {
    async readEvents(after, { tenant, taskId = null, agentId = null, provider = null, types = null }) {
      const end = Math.min(after + MAX_EXAMINED_EVENTS, lastPublished());
      const rows = await reader.all(selectEvents, after, end, tenant, taskId, agentId, provider, types);
      const events = rows.map(toStoredEvent);
      return { events, through: isFull(rows) ? (events.at(-1)?.number ?? end) : end };
    },
    readTaskEvents: async (taskSeq, after, limit, kind) =>
      (await reader.all(selectTaskEvents[kind], taskSeq, after, lastPublished(), limit)).map(toStoredEvent),
    async firstEventFrom(number) {
      const row = await reader.get(selectFirst, number, lastPublished());
      return row === undefined ? null : { number: Number(row["number"]), at: Number(row["at"]) };
    },
    oldestEventNumber: async () => ((await reader.get(selectOldest, lastPublished()))?.["number"] as number | undefined) ?? null,
    prunedThrough: async () => Number((await reader.get(selectPruned))?.["value"]),
    hasEventsAfter: async (taskSeq, number) => (await reader.get(selectLater, taskSeq, number)) !== undefined,
    isInToolCall: async (taskSeq) => (await reader.get(selectToolEvent, taskSeq))?.["type"] === "tool.invoked",
  } satisfies Partial<EventStore>;
}

/** Reads ranges of the log for the tail: all events, or only the essential ones, of which only decisions have their data. */
export async function readLog(reader: Reader, ranges: readonly LogRange[], needsAll: boolean): Promise<LogPage> {
  const bounds = [ranges.map(({ after }) => after), ranges.map(({ through }) => through)] as const;
  const rows = await (needsAll ? reader.all(selectLog, ...bounds) : reader.all(selectEssential, ...bounds, essentialEvents));
  const events = rows.filter((row) => row["number"] !== null).map(toStoredEvent);
  return { events, isCut: isFull(rows) || events.length === MAX_TAIL_EVENTS, last: Number(rows[0]?.["last"]) };
}

/** Number of the last event that was ever stored. */
export const readLastNumber = async (reader: Reader): Promise<number> => Number((await reader.get(selectLast))?.["last"]);

/** The inner limit and the offset keep PostgreSQL from reading the tasks of the tenant first. */
const selectEvents = toStatement(
  cutPage(
    `SELECT * FROM (
       SELECT ${eventColumns}, e.number AS position
       FROM (SELECT * FROM event WHERE number > $1 AND number <= $2 ORDER BY number LIMIT ${MAX_EXAMINED_EVENTS}) AS e
       JOIN task t ON t.seq = e.task ORDER BY e.number OFFSET 0) AS examined
     WHERE tenant = $3 AND ($4::text IS NULL OR id = $4) AND ($5::text IS NULL OR agent_id = $5)
       AND ($6::text IS NULL OR provider = $6) AND ($7::text[] IS NULL OR type = ANY ($7)) ORDER BY position`,
    { column: "data" },
  ),
);

const taskEvents = (condition: string) =>
  toStatement(
    cutPage(
      `SELECT ${eventColumns}, e.number AS position
       FROM (SELECT * FROM event WHERE task = $1 AND number > $2 AND number <= $3 AND ${condition} ORDER BY number LIMIT $4) AS e
       JOIN task t ON t.seq = e.task WHERE t.tenant <> '' ORDER BY e.number`,
      { column: "data" },
    ),
  );

const selectTaskEvents = {
  all: taskEvents(taskEventConditions.all),
  execution: taskEvents(taskEventConditions.execution),
  toolCalls: taskEvents(taskEventConditions.toolCalls),
};

/** The expression for the number of the last event that was ever stored. */
export const lastEventNumber = "greatest((SELECT max(number) FROM event), (SELECT value FROM counter WHERE name = 'event_floor'))";

const selectLast = toStatement(`SELECT ${lastEventNumber} AS last`);

/** One statement, so that `last` and the events are of one snapshot. */
const selectRanges = (columns: string, condition: string) =>
  toStatement(
    `SELECT log.last, page.* FROM (SELECT ${lastEventNumber} AS last) AS log LEFT JOIN (${cutPage(
      `SELECT ${columns}, e.number AS position
       FROM (
         SELECT found.* FROM unnest($1::bigint[], $2::bigint[]) AS range (after, through)
         CROSS JOIN LATERAL (
           SELECT * FROM event WHERE number > range.after AND number <= range.through ${condition}
           ORDER BY number LIMIT ${MAX_TAIL_EVENTS}) AS found
         ORDER BY found.number LIMIT ${MAX_TAIL_EVENTS}) AS e
       JOIN task t ON t.seq = e.task ORDER BY e.number`,
      { column: "data" },
    )}) AS page ON true`,
  );

const selectLog = selectRanges(eventColumns, "");

const selectEssential = selectRanges(
  eventColumns.replace("e.data", "CASE WHEN e.type = 'tool.approval_resolved' THEN e.data ELSE '{}' END AS data"),
  "AND type = ANY ($3::text[])",
);

/** Starts at the oldest number that retention has kept, because the index still contains the deleted ones before it. */
const selectOldest = toStatement(
  `SELECT number FROM event WHERE number > (SELECT value FROM counter WHERE name = 'pruned') AND number <= $1 ORDER BY number LIMIT 1`,
);

/** Starts at a number that retention has kept, as `selectOldest` does. */
const selectFirst = toStatement(
  `SELECT number, at FROM event WHERE number >= greatest($1::bigint, (SELECT value + 1 FROM counter WHERE name = 'pruned')) AND number <= $2
   ORDER BY number LIMIT 1`,
);

const selectPruned = toStatement("SELECT value FROM counter WHERE name = 'pruned'");

const selectLater = toStatement(`SELECT 1 AS more FROM event WHERE task = $1 AND number > $2 AND ${isExecution} LIMIT 1`);

/** The newest tool event since the last start of a running task. An earlier run may have been interrupted in a call. */
const selectToolEvent = toStatement(
  `SELECT e.type FROM task t JOIN event e ON e.task = t.seq
   WHERE t.seq = $1 AND t.state = 'running' AND e.type IN ('tool.invoked', 'tool.completed') AND e.at >= t.started_at
   ORDER BY e.number DESC LIMIT 1`,
);

/** Events to append to the log of a running task. */
interface Append {
  /** `restarts` is the fence: a node whose task was requeued meanwhile cannot append to its next run. */
  task: TaskRun;
  events: readonly NewEvent[];
}

/** Appends events to the logs of running tasks; returns false for tasks that have ended or were requeued. */
export const appendOperation: OperationKind<Append, boolean> = {
  name: "append",
  keyOf: ({ task }) => task.seq,
  isRepeatable: true,
  overlaps: () => true,
  // The guard needs no statement, because the rows of the tasks are locked.
  run: async (inputs, transaction) =>
    inputs.map(({ task, events }) => {
      const stored = transaction.lockedTask(task.seq);
      if (stored?.state !== "running" || stored.restarts !== task.restarts) return { output: false };
      return { output: true, events: events.map((event) => ({ ...event, task })) };
    }),
};

/** The events that every process has to see, also those of other processes: ends of tasks, and decisions about approvals. */
const essentialEvents: readonly EventType[] = ["execution.completed", "execution.failed", "tool.approval_resolved"];

/** The writes of events. */
export const eventKinds: readonly AnyKind[] = [appendOperation];
