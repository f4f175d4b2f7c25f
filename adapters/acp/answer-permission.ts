import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk";
import type { ExecutionRequest } from "#contract";

/** What Bridge says to a call that an agent asks about; a rejection has its reason. */
export type Decision = { allow: true } | { allow: false; reason: string };

/** Decides by the task alone. Inspecting changes nothing, so whatever an agent asks for is too much. */
export function decidePermission({ profile, approvals }: Pick<ExecutionRequest, "profile" | "approvals">): Decision {
  if (profile === "inspect") return { allow: false, reason: "Rejected by Bridge: the task's profile is inspect." };
  if (approvals === "allow") return { allow: true };
  return { allow: false, reason: `Rejected by Bridge: the task's approvals are "${approvals}".` };
}

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
