import type { TaskRun } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { AnyKind } from "../engines/postgres/batch-transaction.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { Row } from "../engines/postgres/connection.ts";
import type { OperationKind, TaskEvent, Transaction } from "../engines/postgres/operation-kind.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { cutPage, toColumns, toStatement } from "../engines/postgres/statements.ts";
import type { Approval, ApprovalDecision, ApprovalStore, NewApproval } from "./interface.ts";
import {
  approvalColumns,
  isDecidable,
  MAX_PENDING_APPROVALS,
  NO_EXPIRY,
  selectRaises,
  toApproval,
  toDecided,
  toDecisionEvent,
  toRaises,
} from "./rows.ts";

/** Reads approvals. */
export function createApprovalReads(reader: Reader) {
  return {
    async findApproval(tenant, approvalId) {
      const row = await reader.get(selectApproval, tenant, approvalId);
      return row === undefined ? null : toApproval(row);
    },
    async listApprovals(tenant, { state, taskId }, { order, after, limit }) {
      const start = after ?? (order === "newest" ? Number.MAX_SAFE_INTEGER : 0);
      if (taskId !== undefined)
        return (await reader.all(selectApprovalsOfTask[order], tenant, start, limit, taskId, state ?? null)).map(toApproval);
      const rows =
        state === undefined
          ? await reader.all(selectApprovals[order], tenant, start, limit)
          : await reader.all(selectApprovalsInState[order], tenant, start, limit, state);
      return rows.map(toApproval);
    },
    listPendingApprovals: async (tenant, toolCallId) => (await reader.all(selectPending, tenant, toColumnText(toolCallId))).map(toApproval),
    hasPendingApproval: async (taskSeq) => (await reader.get(selectPendingOfTask, taskSeq)) !== undefined,
    readRaises: async (taskSeq) => toRaises(await reader.get(selectRaisesOfTask, taskSeq)),
  } satisfies Partial<ApprovalStore>;
}

const fromApprovals = "FROM approval a JOIN task t ON t.seq = a.task";

const selectApproval = toStatement(`SELECT ${approvalColumns}, t.title ${fromApprovals} WHERE a.tenant = $1 AND a.id = $2`);

const approvalPage = (from: string, condition: string, comparison: "<" | ">", order: "" | "DESC") =>
  toStatement(
    cutPage(
      `SELECT ${approvalColumns}, t.title, a.seq AS position
       FROM (SELECT * FROM ${from} WHERE tenant = $1 ${condition} AND seq ${comparison} $2 ORDER BY seq ${order} LIMIT $3) AS a
       JOIN task t ON t.seq = a.task ORDER BY a.seq ${order}`,
      { column: "input", order },
    ),
  );

const approvalPages = (from: string, condition = "") => ({
  newest: approvalPage(from, condition, "<", "DESC"),
  oldest: approvalPage(from, condition, ">", ""),
});

const selectApprovals = approvalPages("approval");

const selectApprovalsInState = approvalPages("approval", "AND state = $4");

/** Sorts the approvals of the task. Without `OFFSET 0`, PostgreSQL could read all approvals in their order to avoid the sort. */
const selectApprovalsOfTask = approvalPages(
  "(SELECT * FROM approval WHERE task = (SELECT seq FROM task WHERE tenant = $1 AND id = $4) OFFSET 0) AS own",
  "AND ($5::text IS NULL OR state = $5)",
);

const selectPending = toStatement(
  `SELECT ${approvalColumns}, t.title ${fromApprovals} WHERE a.tenant = $1 AND a.state = 'pending' AND a.tool_call_id = $2 ORDER BY a.seq`,
);

const selectPendingOfTask = toStatement("SELECT 1 AS pending FROM approval WHERE task = $1 AND state = 'pending' LIMIT 1");

const selectRaisesOfTask = toStatement(selectRaises("$1"));

/** An approval to insert. */
interface Question {
  task: TaskRun;
  approval: NewApproval;
}

/** Inserts approvals of running tasks with their events. Returns null if the guard does not hold. */
const askOperation: OperationKind<Question, Approval | null> = {
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

const questionNames = [
  "id",
  "task",
  "tenant",
  "tool_call_id",
  "tool_name",
  "input",
  "expires_in",
  "kind",
  "raise_micros",
  "raise_tokens",
] as const;

const insertApprovals = {
  name: "insert_approvals",
  text: `WITH a AS (
      INSERT INTO approval (id, task, tenant, tool_call_id, tool_name, input, state, created_at, expires_at, kind, raise_micros, raise_tokens)
      SELECT id, task, tenant, tool_call_id, tool_name, input, 'pending', $11::bigint, coalesce($11::bigint + expires_in, ${NO_EXPIRY}),
        kind, raise_micros, raise_tokens
      FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bigint[],
        $10::bigint[]) WITH ORDINALITY
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
  kind: approval.kind ?? "tool",
  raise_micros: approval.raises?.micros ?? null,
  raise_tokens: approval.raises?.tokens ?? null,
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
const decideOperation: OperationKind<Decision, Approval | null> = {
  name: "decide",
  keyOf: ({ task }) => task,
  isRepeatable: true,
  async run(inputs, transaction) {
    const found = await transaction.query(selectApprovalsToDecide, [
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

const selectApprovalsToDecide = {
  name: "select_approvals",
  text: `SELECT ${approvalColumns}, t.title FROM unnest($1::text[], $2::text[]) AS given (tenant, id)
    JOIN approval a ON a.tenant = given.tenant AND a.id = given.id JOIN task t ON t.seq = a.task`,
};

const decisionNames = ["seq", "state", "decided_at", "decided_by", "reason", "raise_micros"] as const;

const storeDecisions = {
  name: "store_decisions",
  text: `UPDATE approval a SET state = given.state, decided_at = given.decided_at, decided_by = given.decided_by, reason = given.reason,
      raise_micros = given.raise_micros
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) AS given (${decisionNames.join(", ")})
    WHERE a.seq = given.seq AND a.state = 'pending'`,
};

const toDecisionRow = ({ seq, state, decidedAt, decidedBy, reason, raises }: Approval) => ({
  seq,
  state,
  decided_at: decidedAt,
  decided_by: decidedBy,
  reason,
  raise_micros: raises.micros,
});

/**
 * Finds the task of an approval, which never changes. Part of a batch, because a decision of Bridge waits while the
 * database is unavailable.
 */
const findAskingTaskOperation: OperationKind<{ tenant: string; approvalId: string }, number | null> = {
  name: "find_asking_task",
  keyOf: () => null,
  isRepeatable: true,
  async run(inputs, transaction) {
    const found = await transaction.query(selectApprovalsToDecide, [
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

/** The writes of approvals, in the order in which a batch runs them. */
export const approvalKinds: readonly AnyKind[] = [findAskingTaskOperation, askOperation, decideOperation];
