import { z } from "zod";
import { type Approval, approvalStates, toRaiseUsd } from "../../approvals/approvals.ts";
import { approvalKindSchema } from "../wire/approval-kind.ts";
import { timestamp, toIso } from "../wire/timestamps.ts";

export const approvalStateSchema = z.enum(approvalStates).meta({ id: "ApprovalState" });

/** An approval in the API. */
export const approvalSchema = z
  .strictObject({
    approvalId: z.string(),
    kind: approvalKindSchema,
    taskId: z.string(),
    agentId: z.string(),
    provider: z.string(),
    title: z.string().nullable().describe("The first line of the task's message; null if it has none."),
    toolCallId: z.string().describe("The runtime's id of the call, unique within its task only. `approvalId` for a budget."),
    toolName: z.string().describe("`budget` for a budget."),
    input: z
      .unknown()
      .describe(
        "Input of the tool. If it is longer than 256 KiB, only its beginning. For a budget, `{spentUsd, maxCostUsd, spentTokens, maxTokens}`, each of them a number, or null if it is unknown or not limited. `atMostUsd` and `atMostTokens` are present if the response of a call broke off: the most that the task can have used, which counts.",
      ),
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
    raiseByUsd: z
      .number()
      .nullable()
      .describe("By how many US dollars the approval has raised the maximum of a budget; null if it has not."),
  })
  .meta({ id: "Approval", description: "A tool call or a budget that waits, or waited, for a decision." });

/** Converts an approval to its form in the API. */
export function describeApproval(approval: Approval): z.infer<typeof approvalSchema> {
  const {
    approvalId,
    kind,
    task,
    title,
    toolCallId,
    toolName,
    input,
    inputTruncated,
    cwd,
    state,
    createdAt,
    expiresAt,
    decidedBy,
    reason,
  } = approval;
  return {
    approvalId,
    kind,
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
    raiseByUsd: toRaiseUsd(approval),
  };
}
