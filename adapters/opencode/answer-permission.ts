import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
import { type Decision, decideCall } from "../shared/agent-program/decide-call.ts";
import { outsidePermission, shellTool } from "./permissions.ts";
import type { ServerStep } from "./server-events.ts";

/** A question of a session before a tool call. */
export type Question = Extract<ServerStep, { kind: "asked" }>;

/** What a session is told; without a message OpenCode takes a rejection for the wish to stop. */
export type Reply = { reply: "once" } | { reply: "reject"; message: string };

/**
 * Makes who answers the questions of a task's sessions. With one call OpenCode rejects all others that its session asks about at that time,
 * so a rejection is told when none of them waits for its answer any more.
 */
export function createAnswering(
  task: Pick<ProgramTask, "request" | "context" | "story">,
  reply: (permissionId: string, answer: Reply) => Promise<void>,
): (question: Question) => Promise<void> {
  const sessions = new Map<string, { undecided: number; rejected: Map<string, string> }>();

  return async (question) => {
    const { sessionId, permissionId, call, isTold } = question;
    const session = sessions.get(sessionId) ?? { undecided: 0, rejected: new Map() };
    sessions.set(sessionId, session);
    session.undecided += 1;
    const decision = await decide(task, question);
    if (!isTold) task.story.completeTool(call.toolCallId, decision.allow ? null : decision.reason, !decision.allow);
    if (decision.allow) await reply(permissionId, { reply: "once" });
    else session.rejected.set(permissionId, decision.reason);
    session.undecided -= 1;
    if (session.undecided > 0) return;
    const rejected = [...session.rejected];
    session.rejected.clear();
    for (const [id, message] of rejected) await reply(id, { reply: "reject", message });
  };
}

/** File tools stay inside the workspace. A command is as free as the answer to its own question, which comes next. */
async function decide(task: Pick<ProgramTask, "request" | "context">, { permission, call }: Question): Promise<Decision> {
  if (permission !== outsidePermission) return await decideCall(task, call);
  if (call.toolName === shellTool) return { allow: true };
  return { allow: false, reason: "Rejected by Bridge: file tools stay inside the workspace." };
}
