import { toColumnText } from "../column-text.ts";
import { toColumns } from "../engines/postgres/columns.ts";
import type { Row } from "../engines/postgres/connection.ts";
import type { TaskEvent, Transaction } from "../engines/postgres/operation-kind.ts";
import { approvalColumns, toApproval, toDecisionEvent } from "./rows.ts";

/** A locked task whose pending approvals are rejected, and why. */
interface Rejection {
  task: number;
  reason: string;
}

/** Rejects the pending approvals of locked tasks. Returns the events of each task by its number, in the order of its approvals. */
export async function rejectApprovals(rejections: readonly Rejection[], transaction: Transaction): Promise<Map<number, TaskEvent[]>> {
  const rows = rejections.map(({ task, reason }) => ({ task, reason: toColumnText(reason) }));
  const rejected = await transaction.query(reject, [...toColumns(["task", "reason"], rows), transaction.now]);
  const events = new Map<number, TaskEvent[]>();
  for (const row of rejected.toSorted(bySeq)) {
    const approval = toApproval(row);
    const { task } = approval;
    events.set(task.seq, [...(events.get(task.seq) ?? []), { task, ...toDecisionEvent(approval) }]);
  }
  return events;
}

const reject = {
  name: "reject_approvals",
  text: `UPDATE approval a SET state = 'rejected', decided_at = $3, decided_by = 'bridge', reason = given.reason
    FROM unnest($1::bigint[], $2::text[]) AS given (task, reason) JOIN task t ON t.seq = given.task
    WHERE a.task = given.task AND a.state = 'pending' RETURNING ${approvalColumns}`,
};

const bySeq = (a: Row, b: Row): number => Number(a["approval_seq"]) - Number(b["approval_seq"]);
