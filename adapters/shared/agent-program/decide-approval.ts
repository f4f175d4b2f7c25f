import type { ApprovalQuestion, ExecutionRequest } from "#contract";
import type { ProgramContext, ProgramTask } from "./agent-program.ts";

/** What is said to a tool call that a runtime asks about; a rejection has its reason. */
export type Decision = { allow: true } | { allow: false; reason: string };

/** Does the task put tool calls before somebody? One that inspects gets no more by asking. */
export const asks = ({ profile, approvals }: Pick<ExecutionRequest, "profile" | "approvals">): boolean =>
  profile === "modify" && approvals === "ask";

/** Decides about a call that a runtime asks about: by the task alone, or by whoever answers. */
export async function decideApproval(
  { request, context }: Pick<ProgramTask, "request"> & { context: Pick<ProgramContext, "requestApproval"> },
  call: Omit<ApprovalQuestion, "taskId">,
): Promise<Decision> {
  const { profile, approvals, taskId } = request;
  if (profile === "inspect") return { allow: false, reason: "Rejected by Bridge: the task's profile is inspect." };
  if (approvals === "allow") return { allow: true };
  if (approvals === "deny") return { allow: false, reason: 'Rejected by Bridge: the task\'s approvals are "deny".' };
  const { decision, reason } = await context.requestApproval({ taskId, ...call });
  return decision === "approve" ? { allow: true } : { allow: false, reason: reason || "Rejected, without a reason." };
}
