import type { TaskRun } from "../../task.ts";
import type { AnyKind } from "../engines/postgres/batch-transaction.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { Row } from "../engines/postgres/connection.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { cutPage, toColumns, toStatement } from "../engines/postgres/statements.ts";
import { LONG_TEXT_READ, type LongTextRows, TEXT_OF_EVENT, type TextChunks, type TextRow } from "./long-texts.ts";

/** Chunks of a text of a running task. */
interface Insertion extends TextChunks {
  task: TaskRun;
}

/** Deletes the chunks that running tasks have stored, except those that were events. */
const deleteChunksOperation: OperationKind<TaskRun, void> = {
  name: "delete_chunks",
  keyOf: ({ seq }) => seq,
  isRepeatable: true,
  async run(inputs, transaction) {
    const seqs = inputs.filter((task) => isInRun(task, transaction)).map(({ seq }) => seq);
    if (seqs.length > 0) await transaction.query(deleteChunks, [seqs]);
    return inputs.map(() => ({ output: undefined }));
  },
};

const deleteChunks = { name: "delete_chunks", text: "DELETE FROM text_chunk WHERE task = ANY ($1::bigint[]) AND text > 0" };

/** Inserts chunks of running tasks. */
const insertChunksOperation: OperationKind<Insertion, void> = {
  name: "insert_chunks",
  keyOf: ({ task }) => task.seq,
  isRepeatable: true,
  async run(inputs, transaction) {
    const rows = inputs.filter(({ task }) => isInRun(task, transaction)).flatMap(toChunkRows);
    if (rows.length > 0) await transaction.query(insertChunks, toColumns(chunkNames, rows));
    return inputs.map(() => ({ output: undefined }));
  },
};

const chunkNames = ["task", "text", "number", "json"] as const;

const insertChunks = {
  name: "insert_chunks",
  text: `INSERT INTO text_chunk (${chunkNames.join(", ")})
    SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::text[])`,
};

const toChunkRows = ({ task, text, first, chunks }: Insertion) =>
  chunks.map((json, index) => ({ task: task.seq, text, number: first + index, json }));

/** A node that has lost the task must not change the texts of its next run. Its own end fails, so nothing refers to what it has stored. */
function isInRun({ seq, restarts }: TaskRun, transaction: Transaction): boolean {
  const stored = transaction.lockedTask(seq);
  return stored?.state === "running" && stored.restarts === restarts;
}

/** Writes the rows of long texts. */
export const createLongTextWrites = (writer: Pick<BatchWriter, "write">): Pick<LongTextRows, "insertChunks" | "deleteChunks"> => ({
  insertChunks: (task, chunks) => writer.write(insertChunksOperation, { task, ...chunks }, { patient: true, bytes: chunks.bytes }),
  deleteChunks: (task) => writer.write(deleteChunksOperation, task, { patient: true }),
});

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

/** The writes of long texts, in the order in which a batch runs them. */
export const textKinds: readonly AnyKind[] = [deleteChunksOperation, insertChunksOperation];
