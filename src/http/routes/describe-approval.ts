import { z } from "zod";
import { type Approval, approvalStates } from "../../approvals/approvals.ts";
import { timestamp, toIso } from "../wire/timestamps.ts";

export const approvalStateSchema = z.enum(approvalStates).meta({ id: "ApprovalState" });

/** An approval in the API. */
export const approvalSchema = z
  .strictObject({
    approvalId: z.string(),
    taskId: z.string(),
    agentId: z.string(),
    provider: z.string(),
    title: z.string().nullable().describe("The first line of the task's message; null if it has none."),
    toolCallId: z.string().describe("The runtime's id of the call, unique within its task only."),
    toolName: z.string(),
    input: z.unknown().describe("Input of the tool. If it is longer than 256 KiB, only its beginning."),
    inputTruncated: z.boolean().describe("Whether `input` is only the beginning."),
    cwd: z
      .string()
      .nullable()
      .describe("Working directory of the task, relative to the agent's workspace (`metadata.cwd`); null if it is the workspace itself."),
    state: approvalStateSchema,
    createdAt: timestamp,
    expiresAt: timestamp
      .nullable()
      .describe("The call is rejected if it is not decided by then. Null if it waits without a time limit (`BRIDGE_APPROVAL_SECONDS=0`)."),
    decidedBy: z.string().nullable().describe("Name of the token; `bridge` if the approval expired or the task ended."),
    reason: z.string().nullable(),
  })
  .meta({ id: "Approval", description: "A tool call that waits, or waited, for a decision." });

/** Converts an approval to its form in the API. */
export function describeApproval(approval: Approval): z.infer<typeof approvalSchema> {
  const { approvalId, task, title, toolCallId, toolName, input, inputTruncated, cwd, state, createdAt, expiresAt, decidedBy, reason } =
    approval;
  return {
    approvalId,
    taskId: task.taskId,
    agentId: task.agentId,
    provider: task.provider,
    title,
    toolCallId,
    toolName,
    input,
    inputTruncated,
    cwd,
    state,
    createdAt: toIso(createdAt),
    expiresAt: expiresAt === null ? null : toIso(expiresAt),
    decidedBy,
    reason,
  };
}
