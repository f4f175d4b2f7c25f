import type { Row } from "./connection.ts";

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
