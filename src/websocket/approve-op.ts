import { z } from "zod";
import type { Approvals } from "../approvals/approvals.ts";
import { budgetUsd } from "../requests/dispatch-schema.ts";
import { defineOp, type Op } from "./op.ts";
import { ok } from "./responses.ts";

const id = z.string().min(1).max(1024);

/**
 * `tool.approve`: decides a pending approval. If several pending calls have the same id, the client must also name the
 * run or the approval.
 */
export function createApproveOp(approvals: Pick<Approvals, "findPending" | "decide">): Op {
  return defineOp({
    name: "tool.approve",
    scope: "approve",
    payload: z.strictObject({
      toolCallId: id,
      decision: z.enum(["approve", "reject"]),
      reason: z.string().max(2000).optional(),
      raiseByUsd: budgetUsd.optional(),
      runId: id.optional(),
      approvalId: id.optional(),
    }),
    async handle({ toolCallId, decision, reason = null, raiseByUsd, runId, approvalId }, { tenant, principal }) {
      const pending = (await approvals.findPending(tenant, toolCallId)).filter(
        (approval) =>
          (runId === undefined || approval.task.taskId === runId) && (approvalId === undefined || approval.approvalId === approvalId),
      );
      const [approval] = pending;
      if (approval === undefined) return { status: 404, payload: { toolCallId, error: "approval-not-found" } };
      if (pending.length > 1) return { status: 409, payload: { error: "ambiguous" } };
      await approvals.decide(tenant, approval.approvalId, { decision, reason, raiseByUsd, by: principal.name });
      return ok({ acked: true });
    },
  });
}
