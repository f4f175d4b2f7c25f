import { createHash } from "node:crypto";
import type { Row, Statement, Value } from "./connection.ts";
import type { Reader } from "./reader-pool.ts";

/** Names a statement after its text. */
export const toStatement = (text: string): Statement => ({ name: createHash("sha1").update(text).digest("hex"), text });

/** Numbers the parameters of a text in which each is a `?`. */
export const numberParameters = (sql: string): string => sql.split("?").reduce((before, after, index) => `${before}$${index}${after}`);

/** The rows as one array for each column, for `unnest`. */
export const toColumns = <Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Record<Name, string | number | null>>[],
): Value[] => names.map((name) => rows.map((row) => row[name]));

/** Bytes that one read loads, give or take one row, because many readers may hold a page each. */
const READ_BYTES = 1024 * 1024;

/**
 * Cuts a page before the server sends it, after the row with which a column is long enough. `rows` is a query with the columns `column` and
 * `position`, in the order of `position`.
 */
export const cutPage = (
  rows: string,
  { column, order = "", enough = READ_BYTES }: { column: string; order?: "" | "DESC"; enough?: number },
): string =>
  `SELECT * FROM (
     SELECT *, coalesce(octet_length(${column}), 0) AS bytes,
       sum(coalesce(octet_length(${column}), 0)) OVER (ORDER BY position ${order} ROWS UNBOUNDED PRECEDING) AS total
     FROM (${rows}) AS rows) AS page
   WHERE total - bytes < ${enough} ORDER BY position ${order}`;

/** Whether rows of `cutPage` are a full page, so that more rows may follow. */
export const isFull = (rows: readonly Row[], enough = READ_BYTES): boolean => Number(rows.at(-1)?.["total"] ?? 0) >= enough;

/** The expression for the clock of the server, in ms since the epoch. */
export const serverClock = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const selectNow = toStatement(`SELECT ${serverClock} AS now`);

/** Reads the clock of the server, in ms since the epoch. */
export const readServerClock = async (reader: Reader): Promise<number> => Number((await reader.get(selectNow))?.["now"]);

/** Keys of advisory locks in Bridge's database. They never change, because nodes of several versions share them. */
export const advisoryLocks = {
  /** Held by the one migration that runs. */
  migration: 4_713_001,
  /** Held from the numbering of events to the commit, so that events become visible in the order of their numbers. */
  eventNumbers: 4_713_002,
  /** Held by the one slice of retention, or of the rows of deleted tasks, that is being deleted. */
  retention: 4_713_003,
  /** Held by the one node that joins. */
  join: 4_713_004,
  /** With a hash of the agent as second key. Held by the one transaction that may give the agent a place. */
  agent: 4_713_005,
  /** With a hash of the tenant as second key. Held by the one transaction that starts tasks of a tenant with a limit on them. */
  tenant: 4_713_006,
  /** With a hash of the name as second key. Held by the one transaction that changes the counts of a budget. */
  budget: 4_713_007,
} as const;
