import type { ApprovalQuestion, ExecutionRequest } from "#contract";
import type { ProgramContext, ProgramTask } from "./agent-program.ts";

/** Whether a tool call may run. */
export type ApprovalDecision = { allow: true } | { allow: false; reason: string };

/** Returns whether tool calls of the task wait for an approval. A task with the profile `inspect` cannot get more permissions. */
export const needsApproval = ({ profile, approvals }: Pick<ExecutionRequest, "profile" | "approvals">): boolean =>
  profile === "modify" && approvals === "ask";

/** Decides whether a tool call may run: by the profile and the `approvals` of the task, or by requesting an approval. */
export async function decideApproval(
  { request, context }: Pick<ProgramTask, "request"> & { context: Pick<ProgramContext, "requestApproval"> },
  call: Omit<ApprovalQuestion, "taskId">,
): Promise<ApprovalDecision> {
  const { profile, approvals, taskId } = request;
  if (profile === "inspect") return { allow: false, reason: "Rejected by Bridge: the task's profile is inspect." };
  if (approvals === "allow") return { allow: true };
  if (approvals === "deny") return { allow: false, reason: 'Rejected by Bridge: the task\'s approvals are "deny".' };
  const { decision, reason } = await context.requestApproval({ taskId, ...call });
  return decision === "approve" ? { allow: true } : { allow: false, reason: reason || "Rejected without a reason." };
}
