import type { Row } from "../engines/postgres/connection.ts";
import { cutPage } from "../engines/postgres/cut-pages.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import { LONG_TEXT_READ, type LongTextRows, TEXT_OF_EVENT, type TextRow } from "./long-texts.ts";

/** Reads the rows of long texts. */
export const createLongTextReads = (reader: Reader): Pick<LongTextRows, "readEventsBefore" | "readRange"> => ({
  readEventsBefore: async (taskSeq, number) => (await reader.all(selectEventsBefore, taskSeq, number)).map(toTextRow),
  async readRange(taskSeq, { text, first, last }) {
    const rows = await reader.all(text === 0 ? selectEventRange : selectChunks, taskSeq, text, first, last);
    return rows.map(toTextRow);
  },
});

const toTextRow = (row: Row): TextRow => ({ number: Number(row["number"]), json: row["json"] as string | null });

const limits = { column: "json", enough: LONG_TEXT_READ.length };
const limit = `LIMIT ${LONG_TEXT_READ.rows}`;

const selectEventsBefore = toStatement(
  cutPage(
    `SELECT number, ${TEXT_OF_EVENT} AS json, number AS position FROM event WHERE task = $1 AND number < $2 ORDER BY number DESC ${limit}`,
    { ...limits, order: "DESC" },
  ),
);

const chunks = `SELECT number, json, number AS position FROM text_chunk
  WHERE task = $1 AND text = $2 AND number >= $3 AND number <= $4 ORDER BY number ${limit}`;
const selectChunks = toStatement(cutPage(chunks, limits));

/**
 * Events are moved to the chunks when they are pruned before their task, the oldest first. One statement, so that no event is moved between
 * two reads.
 */
const selectEventRange = toStatement(
  cutPage(
    `(${chunks}) UNION ALL
     (SELECT number, ${TEXT_OF_EVENT}, number FROM event
      WHERE task = $1 AND number >= $3 AND number <= $4 AND NOT EXISTS (${chunks}) ORDER BY number ${limit})`,
    limits,
  ),
);
