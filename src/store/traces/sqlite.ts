import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import { type TraceLimits, type TraceStore, traceEndTypes, traceEventTypes } from "./interface.ts";
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

/** Creates the operations of the export of traces. One process uses the database, so it always holds the position. */
export function createTraceOperations(driver: SqliteDriver, clock: () => number): TraceStore {
  const lastNumber = (): number => Number(driver.get("SELECT value FROM counter WHERE name = 'event'")?.["value"]);

  /** Returns the events of runs, in order, by the number of their end. One statement for all runs costs less than one for each. */
  function readEvents(runs: readonly Row[], limits: TraceLimits): Map<unknown, Row[]> {
    const pairs = JSON.stringify(runs.map(({ seq, number }) => [seq, number]));
    const rows = runs.length === 0 ? [] : driver.all(selectEvents, limits.head, pairs, limits.events);
    return Map.groupBy(
      rows.toSorted((one, other) => Number(one["number"]) - Number(other["number"])),
      (row) => row["end_number"],
    );
  }

  return {
    claimTracePosition: (holder, forMs) =>
      driver.write(() => Number(driver.get(claim, lastNumber(), holder, clock() + forMs)?.["cursor"]), { lazy: true }),
    moveTracePosition: (holder, to) => driver.write(() => driver.run(move, to, holder) === 1, { lazy: true }),
    async readTraceEnds(after, limits) {
      const pruned = Number(driver.get("SELECT value FROM counter WHERE name = 'pruned'")?.["value"]);
      const last = lastNumber();
      const { start, end, skipped } = toTraceRange({ after, pruned, last });
      const rows = driver.all(selectEnds, limits.head, limits.request, start, end, limits.ends);
      const events = readEvents(rows.filter(isRun), limits);
      const ends = rows.map((row) => toTraceEnd(row, (events.get(row["number"]) ?? []).map(toTraceEvent)));
      return toTracePage(ends, { end, last, skipped, isFull: rows.length === limits.ends });
    },
  };
}

const claim = `INSERT INTO trace_position (id, cursor, holder, held_until) VALUES (1, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until RETURNING cursor`;
const move = "UPDATE trace_position SET cursor = ? WHERE holder = ?";

const listTypes = (types: readonly string[]): string => types.map((type) => `'${type}'`).join(", ");

/** In this order of the tables, only the events of the range are read. */
const selectEnds = `SELECT ${traceEndColumns}, substr(e.data, 1, ?) AS head, substr(e.data, -${TAIL_CHARACTERS}) AS tail,
    substr(t.request, 1, ?) AS request, s.model, s.cost_usd, s.usage, s.error_code, c.url, c.history, ${previousEndColumn}
  FROM event e CROSS JOIN task t ON t.seq = e.task LEFT JOIN task_summary s ON s.task = t.seq
  LEFT JOIN callback c ON c.task = t.seq AND e.type LIKE 'callback.%'
  WHERE e.number > ? AND e.number <= ? AND e.type IN (${listTypes(traceEndTypes)}) ORDER BY e.number LIMIT ?`;
/** The inner query stops at the limit of each run. */
const selectEvents = `SELECT ended.value ->> 1 AS end_number, e.number, e.type, e.at,
    substr(e.data, 1, iif(e.type = 'usage.reported', ${CALLS_CHARACTERS}, ?)) AS head, substr(e.data, -${TAIL_CHARACTERS}) AS tail
  FROM json_each(?) AS ended CROSS JOIN event e ON e.number IN (
    SELECT number FROM event WHERE task = ended.value ->> 0 AND number < ended.value ->> 1
      AND type IN (${listTypes(traceEventTypes)}) ORDER BY number LIMIT ?)`;

const isRun = ({ url }: Row): boolean => url === null;
