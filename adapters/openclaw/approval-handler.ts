import { z } from "zod";
import { type ApprovalDecision, decideApproval } from "../shared/agent-program/decide-approval.ts";
import type { GatewayEvent } from "./gateway-socket.ts";
import type { GatewayTask } from "./gateway-task.ts";

const approvalSchema = z.object({
  id: z.string(),
  request: z.looseObject({ command: z.string(), cwd: z.string().nullish(), sessionKey: z.string(), toolCallId: z.string().nullish() }),
});
const childSchema = z.object({ task: z.object({ sessionKey: z.string(), childSessionKey: z.string() }) });

/** Answers the questions of one task's sessions: its own, and those of its sub-agents. */
export interface ApprovalHandler {
  take(event: GatewayEvent): void;
  /** Takes the questions that were asked while there was no connection. */
  catchUp(): Promise<void>;
}

/** Makes who answers the gateway's questions before a command. */
export function createApprovalHandler(task: GatewayTask): ApprovalHandler {
  const { gateway, key, timeline, logger, request, signal } = task;
  const sessions = new Set([key]);
  const asked = new Set<string>();
  /** What was said while there was no connection is not asked again. */
  const decisions = new Map<string, Promise<ApprovalDecision>>();

  const answer = async (question: unknown): Promise<void> => {
    const { id, request: call } = approvalSchema.safeParse(question).data ?? {};
    if (id === undefined || call === undefined || !sessions.has(call.sessionKey) || asked.has(id)) return;
    asked.add(id);
    const toolCallId = call.toolCallId ?? id;
    const input = { command: call.command, cwd: call.cwd ?? null };
    timeline.startTool(toolCallId, "exec", input);
    const deciding = decisions.get(id) ?? decideApproval({ request, context: task }, { toolCallId, toolName: "exec", input });
    decisions.set(id, deciding);
    const decided = await deciding;
    const decision: ApprovalDecision = signal.aborted ? { allow: false, reason: "The task is being stopped." } : decided;
    // Nobody tells how the tools of sub-agents end.
    if (call.sessionKey !== key || call.toolCallId == null)
      timeline.finishTool(toolCallId, decision.allow ? null : decision.reason, !decision.allow);
    await gateway.call("exec.approval.resolve", { id, decision: decision.allow ? "allow-once" : "deny" });
  };
  const answerQuietly = (question: unknown): void => {
    // What the gateway has closed, or a run that is gone, needs no answer; after a broken connection it is asked for again.
    answer(question).catch((error: unknown) => {
      const { id } = approvalSchema.safeParse(question).data ?? {};
      if (id !== undefined) asked.delete(id);
      logger.debug({ taskId: request.taskId, reason: String(error) }, "an approval could not be answered");
    });
  };

  return {
    take({ event, payload }) {
      if (event === "exec.approval.requested") answerQuietly(payload);
      const child = event === "task" ? childSchema.safeParse(payload).data?.task : undefined;
      if (child !== undefined && sessions.has(child.sessionKey)) sessions.add(child.childSessionKey);
    },
    async catchUp() {
      const open = await gateway.call("exec.approval.list");
      for (const question of z.array(z.unknown()).catch([]).parse(open)) answerQuietly(question);
    },
  };
}
