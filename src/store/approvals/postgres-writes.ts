import type { TaskRun } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import { toColumns } from "../engines/postgres/columns.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import type { Approval, ApprovalDecision, ApprovalStore, NewApproval } from "./interface.ts";
import { approvalColumns, isDecidable, MAX_PENDING_APPROVALS, NO_EXPIRY, toApproval, toDecided, toDecisionEvent } from "./rows.ts";

/** An approval to insert. */
interface Question {
  task: TaskRun;
  approval: NewApproval;
}

/** Inserts approvals of running tasks with their events. Returns null if the guard does not hold. */
export const askOperation: OperationKind<Question, Approval | null> = {
  name: "ask",
  keyOf: ({ task }) => task.seq,
  isRepeatable: true,
  async run(inputs, transaction) {
    const allowed = await findAllowed(inputs, transaction);
    const columns = toColumns(questionNames, [...allowed].map(toQuestionRow));
    const rows = allowed.size === 0 ? [] : await transaction.query(insertApprovals, [...columns, transaction.now]);
    const inserted = new Map(rows.map((row) => [String(row["approval_id"]), toApproval(row)]));
    return inputs.map((input) => {
      const stored = allowed.has(input) ? inserted.get(input.approval.approvalId) : undefined;
      if (stored === undefined) return { output: null };
      return { output: stored, events: [{ task: input.task, ...input.approval.event(stored.expiresAt) }] };
    });
  },
};

/** The approvals whose task is running and has room for them. The lock of the task protects its approvals. */
async function findAllowed(inputs: readonly Question[], transaction: Transaction): Promise<ReadonlySet<Question>> {
  const running = inputs.filter(({ task }) => {
    const stored = transaction.lockedTask(task.seq);
    return stored?.state === "running" && stored.restarts === task.restarts;
  });
  if (running.length === 0) return new Set();
  const rows = await transaction.query(countPending, [running.map(({ task }) => task.seq)]);
  const pending = new Map(rows.map((row) => [Number(row["task"]), Number(row["count"])]));
  return new Set(
    running.filter(({ task }) => {
      const count = pending.get(task.seq) ?? 0;
      pending.set(task.seq, count + 1);
      return count < MAX_PENDING_APPROVALS;
    }),
  );
}

const countPending = {
  name: "count_pending_approvals",
  text: "SELECT task, count(*) AS count FROM approval WHERE task = ANY ($1::bigint[]) AND state = 'pending' GROUP BY task",
};

const questionNames = ["id", "task", "tenant", "tool_call_id", "tool_name", "input", "expires_in"] as const;
const insertApprovals = {
  name: "insert_approvals",
  text: `WITH a AS (
      INSERT INTO approval (id, task, tenant, tool_call_id, tool_name, input, state, created_at, expires_at)
      SELECT id, task, tenant, tool_call_id, tool_name, input, 'pending', $8::bigint, coalesce($8::bigint + expires_in, ${NO_EXPIRY})
      FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[]) WITH ORDINALITY
        AS given (${questionNames.join(", ")}, position) ORDER BY position
      RETURNING *)
    SELECT ${approvalColumns}, t.title FROM a JOIN task t ON t.seq = a.task`,
};

const toQuestionRow = ({ task, approval }: Question) => ({
  id: approval.approvalId,
  task: task.seq,
  tenant: task.tenant,
  tool_call_id: toColumnText(approval.toolCallId),
  tool_name: toColumnText(approval.toolName),
  input: approval.shownInput,
  expires_in: approval.expiresInMs,
});

/** A decision about an approval. */
interface Decision {
  /** The `seq` of its task, whose lock protects the approval. */
  task: number;
  tenant: string;
  approvalId: string;
  decision: ApprovalDecision;
  isOwn: boolean;
}

/** Stores decisions about pending approvals with their events. Returns null if the guard does not hold. */
export const decideOperation: OperationKind<Decision, Approval | null> = {
  name: "decide",
  keyOf: ({ task }) => task,
  isRepeatable: true,
  async run(inputs, transaction) {
    const found = await transaction.query(selectApprovals, [
      inputs.map(({ tenant }) => tenant),
      inputs.map(({ approvalId }) => approvalId),
    ]);
    const approvals = new Map(found.map(toApproval).map((approval) => [keyOf(approval.task.tenant, approval.approvalId), approval]));
    const outputs = inputs.map(({ tenant, approvalId, decision, isOwn }) => {
      const key = keyOf(tenant, approvalId);
      const approval = approvals.get(key);
      if (approval === undefined || !isDecidable(approval, { isOwn, now: transaction.now })) return null;
      const decided = toDecided(approval, decision, transaction.now);
      approvals.set(key, decided);
      return decided;
    });
    const decided = outputs.filter((approval) => approval !== null);
    if (decided.length > 0) await transaction.query(storeDecisions, toColumns(decisionNames, decided.map(toDecisionRow)));
    return outputs.map((output) => ({ output, events: output === null ? [] : [{ task: output.task, ...toDecisionEvent(output) }] }));
  },
};

/** The identity of an approval for callers. No tenant contains a line break. */
const keyOf = (tenant: string, approvalId: string): string => `${tenant}\n${approvalId}`;

const selectApprovals = {
  name: "select_approvals",
  text: `SELECT ${approvalColumns}, t.title FROM unnest($1::text[], $2::text[]) AS given (tenant, id)
    JOIN approval a ON a.tenant = given.tenant AND a.id = given.id JOIN task t ON t.seq = a.task`,
};

const decisionNames = ["seq", "state", "decided_at", "decided_by", "reason"] as const;
const storeDecisions = {
  name: "store_decisions",
  text: `UPDATE approval a SET state = given.state, decided_at = given.decided_at, decided_by = given.decided_by, reason = given.reason
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[]) AS given (${decisionNames.join(", ")})
    WHERE a.seq = given.seq AND a.state = 'pending'`,
};

const toDecisionRow = ({ seq, state, decidedAt, decidedBy, reason }: Approval) => ({
  seq,
  state,
  decided_at: decidedAt,
  decided_by: decidedBy,
  reason,
});

/**
 * Finds the task of an approval, which never changes. Part of a batch, because a decision of Bridge waits while the
 * database is unavailable.
 */
export const findAskingTaskOperation: OperationKind<{ tenant: string; approvalId: string }, number | null> = {
  name: "find_asking_task",
  keyOf: () => null,
  isRepeatable: true,
  async run(inputs, transaction) {
    const found = await transaction.query(selectApprovals, [
      inputs.map(({ tenant }) => tenant),
      inputs.map(({ approvalId }) => approvalId),
    ]);
    const tasks = new Map(found.map((row) => [keyOf(String(row["tenant"]), String(row["approval_id"])), Number(row["seq"])]));
    return inputs.map(({ tenant, approvalId }) => ({ output: tasks.get(keyOf(tenant, approvalId)) ?? null }));
  },
};

/** The writes of approvals. */
export function createApprovalWrites(writer: Pick<BatchWriter, "write">) {
  return {
    insertApprovalIfRunning: (task, approval) => writer.write(askOperation, { task, approval }),
    async decideApprovalIfPending(tenant, approvalId, decision, { isOwn, patient = false } = { isOwn: false }) {
      const task = await writer.write(findAskingTaskOperation, { tenant, approvalId: toColumnText(approvalId) }, { patient });
      return task === null ? null : writer.write(decideOperation, { task, tenant, approvalId, decision, isOwn }, { patient });
    },
  } satisfies Partial<ApprovalStore>;
}
