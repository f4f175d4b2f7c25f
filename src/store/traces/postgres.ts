import type { Reader } from "../engines/postgres/reader-pool.ts";
import { serverClock, toStatement } from "../engines/postgres/statements.ts";
import { lastEventNumber } from "../events/postgres.ts";
import { type TraceStore, traceEndTypes, traceEventTypes } from "./interface.ts";
import {
  CALLS_CHARACTERS,
  previousEndColumn,
  TAIL_CHARACTERS,
  toTraceEnd,
  toTraceEvent,
  toTracePage,
  toTraceRange,
  traceEndColumns,
} from "./rows.ts";

/**
 * Creates the operations of the export of traces. Each write is a separate transaction of one statement, because one node at a time makes
 * few of them. `clock` stands in for the clock of the server, for tests.
 */
export function createTraceOperations(reader: Reader, clock?: () => number): TraceStore {
  return {
    async claimTracePosition(holder, forMs) {
      const row = await reader.get(claim, holder, forMs, clock?.() ?? null);
      return row === undefined ? null : Number(row["cursor"]);
    },
    moveTracePosition: async (holder, to) => (await reader.all(move, to, holder)).length === 1,
    async readTraceEnds(after, limits) {
      const log = await reader.get(selectLog);
      const last = Number(log?.["last"]);
      const { start, end, skipped } = toTraceRange({ after, pruned: Number(log?.["pruned"]), last });
      const rows = await reader.all(selectEnds, limits.request, start, end, limits.ends, limits.head);
      const runs = rows.filter((row) => row["url"] === null);
      const columns = [runs.map((row) => Number(row["seq"])), runs.map((row) => Number(row["number"]))];
      const events = runs.length === 0 ? [] : await reader.all(selectEvents, ...columns, limits.head, limits.events);
      const byEnd = Map.groupBy(events, (row) => Number(row["end_number"]));
      const ends = rows.map((row) => toTraceEnd(row, (byEnd.get(Number(row["number"])) ?? []).map(toTraceEvent)));
      return toTracePage(ends, { end, last, skipped, isFull: rows.length === limits.ends });
    },
  };
}

/** Another process can take over a position whose holder has not renewed its claim. */
const claim = toStatement(
  `INSERT INTO trace_position (id, cursor, holder, held_until)
   SELECT 1, ${lastEventNumber}, $1::text, clock.now + $2::bigint FROM (SELECT coalesce($3::bigint, ${serverClock}) AS now) AS clock
   ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
   WHERE trace_position.holder = excluded.holder OR trace_position.held_until < excluded.held_until - $2::bigint
   RETURNING cursor`,
);
const move = toStatement("UPDATE trace_position SET cursor = $1 WHERE holder = $2 RETURNING cursor");
const selectLog = toStatement(`SELECT ${lastEventNumber} AS last, (SELECT value FROM counter WHERE name = 'pruned') AS pruned`);

const listTypes = (types: readonly string[]): string => types.map((type) => `'${type}'`).join(", ");

/** The inner query keeps PostgreSQL from reading the tasks first. */
const selectEnds = toStatement(
  `SELECT ${traceEndColumns}, left(e.data, $5) AS head, right(e.data, ${TAIL_CHARACTERS}) AS tail, left(t.request, $1) AS request,
     t.model, t.cost_usd, t.usage, t.error_code, c.url, c.history, ${previousEndColumn}
   FROM (SELECT * FROM event WHERE number > $2 AND number <= $3 AND type IN (${listTypes(traceEndTypes)}) ORDER BY number LIMIT $4) AS e
   JOIN task t ON t.seq = e.task LEFT JOIN callback c ON c.task = t.seq AND e.type LIKE 'callback.%'
   ORDER BY e.number`,
);
const selectEvents = toStatement(
  `SELECT ended.end_number, found.number, found.type, found.at,
     left(found.data, CASE found.type WHEN 'usage.reported' THEN ${CALLS_CHARACTERS} ELSE $3 END) AS head, right(found.data, ${TAIL_CHARACTERS}) AS tail
   FROM unnest($1::bigint[], $2::bigint[]) AS ended (task, end_number)
   CROSS JOIN LATERAL (
     SELECT number, type, at, data FROM event WHERE task = ended.task AND number < ended.end_number
       AND type IN (${listTypes(traceEventTypes)}) ORDER BY number LIMIT $4) AS found
   ORDER BY found.number`,
);
