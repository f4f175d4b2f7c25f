import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
import { type ApprovalDecision, decideApproval } from "../shared/agent-program/decide-approval.ts";
import { EXTERNAL_DIRECTORY, SHELL_TOOL } from "./permissions.ts";
import type { ServerStep } from "./server-calls.ts";

/** A request of a session for permission to run a tool call. */
export type PermissionRequest = Extract<ServerStep, { kind: "asked" }>;

/** The reply to a permission request. OpenCode stops the turn if a rejection has no message. */
export type PermissionReply = { reply: "once" } | { reply: "reject"; message: string };

/**
 * Creates the handler for the permission requests of a task's sessions. When one request is rejected, OpenCode also rejects all other
 * pending requests of the session, so rejections are sent only when no request of the session is undecided.
 */
export function createPermissionHandler(
  task: Pick<ProgramTask, "request" | "context" | "timeline">,
  reply: (permissionId: string, answer: PermissionReply) => Promise<void>,
): (question: PermissionRequest) => Promise<void> {
  const sessions = new Map<string, { undecided: number; rejected: Map<string, string> }>();

  return async (permissionRequest) => {
    const { sessionId, permissionId, call, isReported } = permissionRequest;
    const session = sessions.get(sessionId) ?? { undecided: 0, rejected: new Map() };
    sessions.set(sessionId, session);
    session.undecided += 1;
    const decision = await decide(task, permissionRequest);
    if (!isReported) task.timeline.finishTool(call.toolCallId, decision.allow ? null : decision.reason, !decision.allow);
    if (decision.allow) await reply(permissionId, { reply: "once" });
    else session.rejected.set(permissionId, decision.reason);
    session.undecided -= 1;
    if (session.undecided > 0) return;
    const rejected = [...session.rejected];
    session.rejected.clear();
    for (const [id, message] of rejected) await reply(id, { reply: "reject", message });
  };
}

/**
 * Decides about a permission request. Keeps file tools inside the workspace. Allows the access of a command to another directory, because
 * OpenCode sends a separate request for the command.
 */
async function decide(task: Pick<ProgramTask, "request" | "context">, { permission, call }: PermissionRequest): Promise<ApprovalDecision> {
  if (permission !== EXTERNAL_DIRECTORY) return await decideApproval(task, call);
  if (call.toolName === SHELL_TOOL) return { allow: true };
  return { allow: false, reason: "Rejected by Bridge: file tools stay inside the workspace." };
}
