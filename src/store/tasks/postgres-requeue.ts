import type { TaskRun } from "../../task.ts";
import { rejectApprovals } from "../approvals/postgres-rejections.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import { REQUEUE_REASON } from "./rows.ts";

/** Queues running tasks again, once, and rejects their pending approvals. Returns false if the guard does not hold. */
export const requeueOperation: OperationKind<TaskRun, boolean> = {
  name: "requeue",
  keyOf: ({ seq }) => seq,
  isRepeatable: false,
  async run(inputs, transaction) {
    const allowed = inputs.filter((task) => isFirstRun(task, transaction)).map(({ seq }) => seq);
    const requeued = allowed.length === 0 ? [] : (await transaction.query(requeueTasks, [allowed])).map(({ seq }) => Number(seq));
    for (const seq of requeued) Object.assign(transaction.lockedTask(seq) ?? {}, { state: "queued", restarts: 1 });
    const rejections = requeued.map((task) => ({ task, reason: REQUEUE_REASON }));
    const events = requeued.length === 0 ? new Map() : await rejectApprovals(rejections, transaction);
    return inputs.map(({ seq }) => ({ output: requeued.includes(seq), events: events.get(seq) ?? [] }));
  },
};

function isFirstRun({ seq, restarts }: TaskRun, transaction: Transaction): boolean {
  const stored = transaction.lockedTask(seq);
  return stored?.state === "running" && stored.restarts === 0 && restarts === 0;
}

/** A task that should stop is not started again. If its agent has lost its place, any node may start the task. */
const requeueTasks = {
  name: "requeue_tasks",
  text: `UPDATE task t SET state = 'queued', started_at = NULL, restarts = 1,
      node = (SELECT p.node FROM place p WHERE p.tenant = t.tenant AND p.agent_id = t.agent_id)
    WHERE seq = ANY ($1::bigint[]) AND stop_code IS NULL RETURNING seq`,
};
