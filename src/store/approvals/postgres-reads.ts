import { toColumnText } from "../column-text.ts";
import { cutPage } from "../engines/postgres/cut-pages.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import type { ApprovalStore } from "./interface.ts";
import { approvalColumns, toApproval } from "./rows.ts";

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
