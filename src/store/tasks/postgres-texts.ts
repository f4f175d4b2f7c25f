import type { TaskRun } from "../../task.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import { toColumns } from "../engines/postgres/columns.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import type { LongTextRows, TextChunks } from "./long-texts.ts";

/** Chunks of a text of a running task. */
interface Insertion extends TextChunks {
  task: TaskRun;
}

/** Deletes the chunks that running tasks have stored, except those that were events. */
export const deleteChunksOperation: OperationKind<TaskRun, void> = {
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
export const insertChunksOperation: OperationKind<Insertion, void> = {
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
