import { z } from "zod";
import { type ApprovalDecision, decideApproval } from "../shared/agent-program/decide-approval.ts";
import type { GatewayEvent } from "./gateway-socket.ts";
import type { GatewayTask } from "./gateway-task.ts";

const approvalSchema = z.object({
  id: z.string(),
  request: z.looseObject({ command: z.string(), cwd: z.string().nullish(), sessionKey: z.string(), toolCallId: z.string().nullish() }),
});
const childSchema = z.object({ task: z.object({ sessionKey: z.string(), childSessionKey: z.string() }) });

/** Decides the approval requests of one task: those of its session and of the sessions of its sub-agents. */
export interface ApprovalHandler {
  handle(event: GatewayEvent): void;
  /** Handles the requests that the gateway made while Bridge was disconnected. */
  handlePending(): Promise<void>;
}

/** Creates the handler of the approvals that the gateway requests before it runs a command. */
export function createApprovalHandler(task: GatewayTask): ApprovalHandler {
  const { gateway, key, timeline, logger, request, signal } = task;
  const sessions = new Set([key]);
  const handledIds = new Set<string>();
  /** Decisions by approval id. A decision made while Bridge was disconnected is sent after the reconnect, without a second request. */
  const decisions = new Map<string, Promise<ApprovalDecision>>();

  const resolve = async (approval: unknown): Promise<void> => {
    const { id, request: call } = approvalSchema.safeParse(approval).data ?? {};
    if (id === undefined || call === undefined || !sessions.has(call.sessionKey) || handledIds.has(id)) return;
    handledIds.add(id);
    const toolCallId = call.toolCallId ?? id;
    const input = { command: call.command, cwd: call.cwd ?? null };
    timeline.startTool(toolCallId, "exec", input);
    const pending = decisions.get(id) ?? decideApproval({ request, context: task }, { toolCallId, toolName: "exec", input });
    decisions.set(id, pending);
    const decided = await pending;
    const decision: ApprovalDecision = signal.aborted ? { allow: false, reason: "The task is being stopped." } : decided;
    // The gateway emits no result event for tools of sub-agents.
    if (call.sessionKey !== key || call.toolCallId == null)
      timeline.finishTool(toolCallId, decision.allow ? null : decision.reason, !decision.allow);
    await gateway.call("exec.approval.resolve", { id, decision: decision.allow ? "allow-once" : "deny" });
  };
  const resolveInBackground = (approval: unknown): void => {
    // A failure is harmless: a closed approval or an ended run needs no decision, and pending approvals are listed again after a reconnect.
    resolve(approval).catch((error: unknown) => {
      const { id } = approvalSchema.safeParse(approval).data ?? {};
      if (id !== undefined) handledIds.delete(id);
      logger.debug({ taskId: request.taskId, reason: String(error) }, "failed to resolve an approval");
    });
  };

  return {
    handle({ event, payload }) {
      if (event === "exec.approval.requested") resolveInBackground(payload);
      const child = event === "task" ? childSchema.safeParse(payload).data?.task : undefined;
      if (child !== undefined && sessions.has(child.sessionKey)) sessions.add(child.childSessionKey);
    },
    async handlePending() {
      const pending = await gateway.call("exec.approval.list");
      for (const approval of z.array(z.unknown()).catch([]).parse(pending)) resolveInBackground(approval);
    },
  };
}
