import { z } from "zod";
import { type Approval, approvalStates } from "../../approvals/approvals.ts";
import { time, toIso } from "../wire/time.ts";

export const approvalStateSchema = z.enum(approvalStates).meta({ id: "ApprovalState" });

/** An approval as those see it who may answer it. */
export const approvalSchema = z
  .strictObject({
    approvalId: z.string(),
    taskId: z.string(),
    agentId: z.string(),
    provider: z.string(),
    toolCallId: z.string().describe("The runtime's own id of the call, unique within its task only."),
    toolName: z.string(),
    input: z.unknown().describe("What the tool is called with; over 256 KiB its beginning."),
    inputTruncated: z.boolean().describe("The input is longer than shown."),
    state: approvalStateSchema,
    createdAt: time,
    expiresAt: time.describe("Without an answer until then it counts as rejected."),
    decidedBy: z.string().nullable().describe("Name of the token; `bridge` when nobody answered in time or the task ended."),
    reason: z.string().nullable(),
  })
  .meta({ id: "Approval", description: "A tool call that waits, or waited, for an answer." });

/** An approval on the wire. */
export function describeApproval(approval: Approval): z.infer<typeof approvalSchema> {
  const { approvalId, task, toolCallId, toolName, input, inputTruncated, state, createdAt, expiresAt, decidedBy, reason } = approval;
  return {
    approvalId,
    taskId: task.taskId,
    agentId: task.agentId,
    provider: task.provider,
    toolCallId,
    toolName,
    input,
    inputTruncated,
    state,
    createdAt: toIso(createdAt),
    expiresAt: toIso(expiresAt),
    decidedBy,
    reason,
  };
}
