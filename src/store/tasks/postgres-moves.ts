import type { Task, TaskRun } from "../../task.ts";
import type { OperationKind } from "../engines/postgres/operation-kind.ts";
import { toColumns } from "../engines/postgres/statements.ts";
import { toRequestColumns } from "./rows.ts";

/** A queued task, and the adapter that it moves to. */
interface Move {
  task: TaskRun;
  to: Pick<Task, "provider" | "request">;
}

/** Moves queued tasks from their adapters to others. Returns false if the guard does not hold. */
export const moveOperation: OperationKind<Move, boolean> = {
  name: "move",
  keyOf: ({ task }) => task.seq,
  isRepeatable: false,
  async run(inputs, transaction) {
    const queued = inputs.filter(({ task: { seq, restarts } }) => {
      const stored = transaction.lockedTask(seq);
      return stored?.state === "queued" && stored.restarts === restarts;
    });
    const rows = queued.map(({ task: { seq, provider }, to }) => ({ seq, from: provider, to: to.provider, ...toRequestColumns(to) }));
    const moved = rows.length === 0 ? [] : await transaction.query(moveTasks, toColumns(["seq", "from", "to", "request"], rows));
    const seqs = new Set(moved.map(({ seq }) => Number(seq)));
    return inputs.map(({ task }) => ({ output: seqs.has(task.seq) }));
  },
};

const moveTasks = {
  name: "move_tasks",
  text: `UPDATE task t SET provider = given.target, request = given.request
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS given (seq, source, target, request)
    WHERE t.seq = given.seq AND t.provider = given.source RETURNING t.seq`,
};
