import { approvalColumns, toApproval } from "../approval-rows.ts";
import { toColumnText } from "../column-text.ts";
import type { Store } from "../store.ts";
import { cutPage } from "./cut-pages.ts";
import type { Reader } from "./reader-pool.ts";
import { toStatement } from "./to-statement.ts";

/** Reads approvals. */
export function createApprovalReads(reader: Reader) {
  return {
    async findApproval(tenant, approvalId) {
      const row = await reader.get(selectApproval, tenant, approvalId);
      return row === undefined ? null : toApproval(row);
    },
    async listApprovals(tenant, state, { order, after, limit }) {
      const start = after ?? (order === "newest" ? Number.MAX_SAFE_INTEGER : 0);
      const rows =
        state === undefined
          ? await reader.all(selectApprovals[order], tenant, start, limit)
          : await reader.all(selectApprovalsInState[order], tenant, start, limit, state);
      return rows.map(toApproval);
    },
    listPendingApprovals: async (tenant, toolCallId) => (await reader.all(selectPending, tenant, toColumnText(toolCallId))).map(toApproval),
    hasPendingApproval: async (taskSeq) => (await reader.get(selectPendingOfTask, taskSeq)) !== undefined,
  } satisfies Partial<Store>;
}

const fromApprovals = "FROM approval a JOIN task t ON t.seq = a.task";
const selectApproval = toStatement(`SELECT ${approvalColumns}, t.title ${fromApprovals} WHERE a.tenant = $1 AND a.id = $2`);

const approvalPage = (condition: string, comparison: "<" | ">", order: "" | "DESC") =>
  toStatement(
    cutPage(
      `SELECT ${approvalColumns}, t.title, a.seq AS position
       FROM (SELECT * FROM approval WHERE tenant = $1 ${condition} AND seq ${comparison} $2 ORDER BY seq ${order} LIMIT $3) AS a
       JOIN task t ON t.seq = a.task ORDER BY a.seq ${order}`,
      { column: "input", order },
    ),
  );
const approvalPages = (condition: string) => ({
  newest: approvalPage(condition, "<", "DESC"),
  oldest: approvalPage(condition, ">", ""),
});
const selectApprovals = approvalPages("");
const selectApprovalsInState = approvalPages("AND state = $4");

const selectPending = toStatement(
  `SELECT ${approvalColumns}, t.title ${fromApprovals} WHERE a.tenant = $1 AND a.state = 'pending' AND a.tool_call_id = $2 ORDER BY a.seq`,
);
const selectPendingOfTask = toStatement("SELECT 1 AS pending FROM approval WHERE task = $1 AND state = 'pending' LIMIT 1");
