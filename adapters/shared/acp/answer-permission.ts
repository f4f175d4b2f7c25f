import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk";
import type { ApprovalDecision } from "../agent-program/decide-approval.ts";

/** Selects the agent's option for a decision. Never selects "always allow", because that outlives the task. */
export function answerPermission(
  decision: ApprovalDecision,
  options: readonly PermissionOption[],
): { outcome: RequestPermissionOutcome; decision: ApprovalDecision } {
  const once = options.find(({ kind }) => kind === "allow_once");
  if (decision.allow && once !== undefined) return { outcome: { outcome: "selected", optionId: once.optionId }, decision };
  const reject = options.find(({ kind }) => kind === "reject_once");
  return {
    outcome: reject === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: reject.optionId },
    decision: decision.allow
      ? { allow: false, reason: "Rejected by Bridge: the agent offers no option to allow only this call." }
      : decision,
  };
}
