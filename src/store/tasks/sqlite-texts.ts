import { createLengthLimit, type Row, type SqliteDriver } from "../engines/sqlite/driver.ts";
import { createLongTexts, LONG_TEXT_READ, type LongTexts, TEXT_OF_EVENT, type TextRow } from "./long-texts.ts";

/** The operations of long texts. */
export function createLongTextOperations(driver: SqliteDriver): LongTexts {
  // After a crash between storing a text and the end of its task, no result refers to the text.
  driver.run(
    "DELETE FROM text_chunk WHERE task IN (SELECT seq FROM task WHERE result_gaps IS NULL AND seq IN (SELECT task FROM text_chunk))",
  );
  const read = (sql: string, ...parameters: number[]): TextRow[] =>
    driver.allUntil(createLengthLimit("json", LONG_TEXT_READ.length), sql, ...parameters, LONG_TEXT_READ.rows).map(toTextRow);

  return createLongTexts({
    readEventsBefore: async (taskSeq, number) =>
      read(
        `SELECT number, ${TEXT_OF_EVENT} AS json FROM event WHERE task = ? AND number < ? ORDER BY number DESC LIMIT ?`,
        taskSeq,
        number,
      ),
    async readRange(taskSeq, { text, first, last }) {
      const chunks = read(
        "SELECT number, json FROM text_chunk WHERE task = ? AND text = ? AND number >= ? ORDER BY number LIMIT ?",
        taskSeq,
        text,
        first,
      );
      // Events are moved to the chunks when they are pruned before their task, the oldest first.
      if (chunks.length > 0 || text !== 0) return chunks;
      return read(
        `SELECT number, ${TEXT_OF_EVENT} AS json FROM event WHERE task = ? AND number >= ? AND number <= ? ORDER BY number LIMIT ?`,
        taskSeq,
        first,
        last,
      );
    },
    insertChunks: (task, { text, first, chunks, bytes }) =>
      driver.write(
        () => {
          for (const [index, json] of chunks.entries())
            driver.run("INSERT INTO text_chunk (task, text, number, json) VALUES (?, ?, ?, ?)", task.seq, text, first + index, json);
        },
        { patient: true, bytes },
      ),
    async deleteChunks(task) {
      await driver.write(() => driver.run("DELETE FROM text_chunk WHERE task = ? AND text > 0", task.seq), { patient: true });
    },
  });
}

const toTextRow = (row: Row): TextRow => ({ number: Number(row["number"]), json: row["json"] as string | null });
