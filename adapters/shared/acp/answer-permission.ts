import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk";
import type { Decision } from "../agent-program/decide-approval.ts";

/** Puts a decision in the agent's own words. Only this one call is ever allowed: what is allowed for always outlives the task. */
export function answerPermission(
  decision: Decision,
  options: readonly PermissionOption[],
): { outcome: RequestPermissionOutcome; decision: Decision } {
  const once = options.find(({ kind }) => kind === "allow_once");
  if (decision.allow && once !== undefined) return { outcome: { outcome: "selected", optionId: once.optionId }, decision };
  const reject = options.find(({ kind }) => kind === "reject_once");
  return {
    outcome: reject === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: reject.optionId },
    decision: decision.allow ? { allow: false, reason: "Rejected by Bridge: the agent offers no way to allow this call alone." } : decision,
  };
}
