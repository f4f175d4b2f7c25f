import type { TaskRun } from "../../task.ts";
import { rejectApprovals } from "../approvals/postgres.ts";
import type { LimitsAt } from "../budgets/interface.ts";
import { changeReservations, type HeldChange } from "../budgets/postgres-reservations.ts";
import { settle, toSpentTotal } from "../budgets/rows.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import { toColumns } from "../engines/postgres/statements.ts";
import type { Postponement } from "./interface.ts";
import { isUnknown, toSpentSummary } from "./rows.ts";

/** A task to return to the queue until a time. */
export interface Postponed extends Postponement {
  task: TaskRun;
  limitsAt: LimitsAt;
}

/** Returns running tasks to the queue, and rejects their pending approvals. Returns false if the guard does not hold. */
export const postponeOperation: OperationKind<Postponed, boolean> = {
  name: "postpone",
  keyOf: ({ task }) => task.seq,
  isRepeatable: false,
  budgetsOf: ({ task }) => task.budgets ?? [],
  async run(inputs, transaction) {
    const running = inputs.filter(({ task }) => isCurrentRun(task, transaction));
    const rows = running.map(({ task, startAfter, maxWaitMs }) => ({ seq: task.seq, start_after: startAfter, max_wait: maxWaitMs }));
    const known = running.filter(({ spent }) => !isUnknown(spent)).map(({ task, spent }) => ({ seq: task.seq, ...toSpentSummary(spent) }));
    if (known.length > 0) await transaction.query(storeSpent, toColumns(["seq", "cost_usd", "cost_source", "usage"], known));
    const values = [...toColumns(["seq", "start_after", "max_wait"], rows), transaction.now];
    const stored = rows.length === 0 ? [] : await transaction.query(postponeTasks, values);
    const seqs = new Set(stored.map(({ seq }) => Number(seq)));
    const postponed = running.filter(({ task }) => seqs.has(task.seq));
    for (const { task } of postponed) Object.assign(transaction.lockedTask(task.seq) ?? {}, { state: "queued" });
    const rejections = postponed.map(({ task, reason }) => ({ task: task.seq, reason }));
    const rejected = rejections.length === 0 ? new Map() : await rejectApprovals(rejections, transaction);
    const limited = postponed.filter(({ task }) => task.budgets !== undefined);
    const changes = limited.map(({ task, spent }): HeldChange => {
      const total = toSpentTotal(spent);
      return { task: task.seq, change: (period, reservation) => settle(period, reservation, total) };
    });
    const outcomes = await changeReservations(changes, { limitsAt: limited[0]?.limitsAt ?? noLimits, next: "queued" }, transaction);
    return inputs.map((input) => {
      if (!postponed.includes(input)) return { output: false };
      const { task, event } = input;
      const warnings = outcomes[limited.indexOf(input)]?.events ?? [];
      return { output: true, events: [...(rejected.get(task.seq) ?? []), ...[...warnings, event].map((one) => ({ task, ...one }))] };
    });
  },
};

/** The statement that stores what tasks have spent so far. */
export const storeSpent = {
  name: "store_spent",
  text: `UPDATE task t SET cost_usd = given.cost_usd, cost_source = given.cost_source, usage = given.usage
    FROM unnest($1::bigint[], $2::double precision[], $3::text[], $4::text[]) AS given (seq, cost_usd, cost_source, usage)
    WHERE t.seq = given.seq`,
};

const noLimits: LimitsAt = () => [];

function isCurrentRun({ seq, restarts }: TaskRun, transaction: Transaction): boolean {
  const stored = transaction.lockedTask(seq);
  return stored?.state === "running" && stored.restarts === restarts;
}

/** A task that should stop, or would wait too long, stays. If its agent has lost its place, any node may start the task. */
const postponeTasks = {
  name: "postpone_tasks",
  text: `UPDATE task t SET state = 'queued', started_at = NULL, start_after = given.start_after, waits_since = coalesce(t.waits_since, $4::bigint),
      node = (SELECT p.node FROM place p WHERE p.tenant = t.tenant AND p.agent_id = t.agent_id)
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS given (seq, start_after, max_wait)
    WHERE t.seq = given.seq AND t.stop_code IS NULL AND given.start_after <= coalesce(t.waits_since, $4::bigint) + given.max_wait RETURNING t.seq`,
};
