import type { TaskIdentity } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import { createLengthLimit, type SqliteDriver } from "../engines/sqlite/driver.ts";
import { type createEventOperations, selectRun } from "../events/sqlite.ts";
import type { Approval, ApprovalDecision, ApprovalStore } from "./interface.ts";
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
  toRejection,
} from "./rows.ts";

/** The operations of approvals. Each decision is written together with its event, and only once. */
export function createApprovalOperations(driver: SqliteDriver, events: ReturnType<typeof createEventOperations>, clock: () => number) {
  /** Numbers of the tasks that may have a pending approval. Few tasks ask for one, so the end of a task rarely has to look for them. */
  const asking = new Set(
    driver
      .all(
        "SELECT t.seq FROM task t WHERE t.state = 'running' AND EXISTS (SELECT 1 FROM approval a WHERE a.task = t.seq AND a.state = 'pending')",
      )
      .map((row) => Number(row["seq"])),
  );

  /** Writes a decision inside an operation that is already running. */
  function decide(approval: Approval, decision: ApprovalDecision, now: number): Approval {
    const decided = toDecided(approval, decision, now);
    driver.run(
      "UPDATE approval SET state = ?, decided_at = ?, decided_by = ?, reason = ?, raise_micros = ? WHERE seq = ? AND state = 'pending'",
      decided.state,
      decided.decidedAt,
      decided.decidedBy,
      decided.reason,
      decided.raises.micros,
      decided.seq,
    );
    events.append(decided.task, toDecisionEvent(decided), now);
    return decided;
  }

  /** Rejects the pending approvals of a task inside the operation that ends it. */
  function rejectAll(task: TaskIdentity, reason: string, now: number): void {
    if (!asking.has(task.seq)) return;
    for (const row of driver.all(`${selectApprovals} WHERE a.task = ? AND a.state = 'pending' ORDER BY a.seq`, task.seq))
      decide(toApproval(row), toRejection(reason), now);
  }

  const operations = {
    insertApprovalIfRunning: (task, { approvalId, toolCallId, toolName, shownInput, expiresInMs, event, kind = "tool", raises }) =>
      driver.write(() => {
        if (driver.get(selectRun, task.seq, task.restarts) === undefined) return null;
        const pending = driver.get("SELECT count(*) AS count FROM approval WHERE task = ? AND state = 'pending'", task.seq);
        if (Number(pending?.["count"]) >= MAX_PENDING_APPROVALS) return null;
        asking.add(task.seq);
        const now = clock();
        const expiresAt = expiresInMs === null ? null : now + expiresInMs;
        driver.run(
          `INSERT INTO approval (id, task, tenant, tool_call_id, tool_name, input, state, created_at, expires_at, kind, raise_micros, raise_tokens)
             VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?)`,
          approvalId,
          task.seq,
          task.tenant,
          toColumnText(toolCallId),
          toColumnText(toolName),
          shownInput,
          now,
          expiresAt ?? NO_EXPIRY,
          kind,
          raises?.micros ?? null,
          raises?.tokens ?? null,
        );
        events.append(task, event(expiresAt), now);
        return find(driver, task.tenant, approvalId);
      }),
    decideApprovalIfPending: (tenant, approvalId, decision, { isOwn, patient = false } = { isOwn: false }) =>
      driver.write(
        () => {
          const now = clock();
          const approval = find(driver, tenant, approvalId);
          return approval !== null && isDecidable(approval, { isOwn, now }) ? decide(approval, decision, now) : null;
        },
        { patient },
      ),
    ...createApprovalReads(driver),
  } satisfies Partial<ApprovalStore>;

  return {
    rejectAll,
    /** Call it after the commit of the end of the task: an operation that is rolled back runs again. */
    forget: ({ seq }: TaskIdentity): void => void asking.delete(seq),
    operations,
  };
}

function createApprovalReads(driver: SqliteDriver) {
  return {
    findApproval: async (tenant, approvalId) => find(driver, tenant, approvalId),
    async listApprovals(tenant, { state, taskId }, { order, after, limit }) {
      const [range, start] =
        order === "newest" ? ["a.seq < ? ORDER BY a.seq DESC", Number.MAX_SAFE_INTEGER] : ["a.seq > ? ORDER BY a.seq", 0];
      const [selection, owner] =
        taskId === undefined
          ? [`${selectApprovals} WHERE a.tenant = ?`, [tenant]]
          : [`${selectApprovalsOfTask} WHERE t.tenant = ? AND t.id = ?`, [tenant, taskId]];
      const [condition, values] = state === undefined ? ["", []] : ["AND a.state = ?", [state]];
      return driver
        .allUntil(createLengthLimit("input"), `${selection} ${condition} AND ${range} LIMIT ?`, ...owner, ...values, after ?? start, limit)
        .map(toApproval);
    },
    listPendingApprovals: async (tenant, toolCallId) =>
      driver
        .all(
          `${selectApprovals} WHERE a.tenant = ? AND a.state = 'pending' AND a.tool_call_id = ? ORDER BY a.seq`,
          tenant,
          toColumnText(toolCallId),
        )
        .map(toApproval),
    hasPendingApproval: async (taskSeq) =>
      driver.get("SELECT 1 AS pending FROM approval WHERE task = ? AND state = 'pending' LIMIT 1", taskSeq) !== undefined,
    readRaises: async (taskSeq) => toRaises(driver.get(selectRaises("?"), taskSeq)),
  } satisfies Partial<ApprovalStore>;
}

function find(driver: SqliteDriver, tenant: string, approvalId: string): Approval | null {
  const row = driver.get(`${selectApprovals} WHERE a.tenant = ? AND a.id = ?`, tenant, approvalId);
  return row === undefined ? null : toApproval(row);
}

const selectColumns = `SELECT ${approvalColumns}, (SELECT s.title FROM task_summary s WHERE s.task = t.seq) AS title`;
const selectApprovals = `${selectColumns} FROM approval a CROSS JOIN task t ON t.seq = a.task`;
/** Sorts the approvals of the task. To avoid the sort, SQLite would otherwise read all approvals of the tenant in their order. */
const selectApprovalsOfTask = `${selectColumns} FROM task t CROSS JOIN approval a INDEXED BY approval_task ON a.task = t.seq`;
