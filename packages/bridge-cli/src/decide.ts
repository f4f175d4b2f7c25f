import { printRecord } from "./record.ts";
import type { Run } from "./verb.ts";

/** Options of a decision. */
export interface DecisionOptions {
  reason?: string;
}

/** Creates the verb that decides an approval in this way. */
export function createDecision(decision: "approve" | "reject"): Run<DecisionOptions> {
  return async ({ args: [approvalId = ""], options: { reason }, output, signal, connect }) => {
    const approval = await connect().client.approvals.decide(approvalId, decision, reason, { signal });
    printRecord(output, approval, [
      { name: "id", value: approval.approvalId },
      { name: "state", value: approval.state },
      { name: "task", value: approval.taskId },
      { name: "tool", value: approval.toolName },
      { name: "by", value: approval.decidedBy },
      { name: "reason", value: approval.reason },
    ]);
    return undefined;
  };
}
