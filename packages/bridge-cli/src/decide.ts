import { type BridgeClient, BridgeClientError } from "bridge-client";
import { CommandError } from "./command-error.ts";
import { formatUsd } from "./describe-question.ts";
import { printRecord } from "./record.ts";
import type { Run } from "./verb.ts";
import { chooseId } from "./with-task-id.ts";

/** The part of an approval's id that contains the time: `apr_` and 13 characters. A shorter beginning can fit a later approval, too. */
const MIN_START = 17;

/** Options of the verbs that decide. */
export interface DecisionVerbOptions {
  reason?: string;
  raise?: number;
}

/** Creates the verb that decides an approval in this way. */
export function createDecision(decision: "approve" | "reject"): Run<DecisionVerbOptions> {
  return async ({ args: [given = ""], options: { reason, raise }, output, signal, connect }) => {
    const { approvals } = connect().client;
    const decide = (approvalId: string) => approvals.decide(approvalId, decision, reason, { signal, raiseByUsd: raise });
    const approval = await decide(given).catch(async (error: unknown) => {
      if (!(error instanceof BridgeClientError) || error.status !== 404) throw error;
      const approvalId = chooseId(given, await findPending(approvals, given, signal), error);
      if (given.length < MIN_START)
        throw new CommandError("notFound", error.message, {
          hint: `Give at least ${MIN_START} characters of the id, because another approval can begin with fewer: ${approvalId}`,
          cause: error,
        });
      return await decide(approvalId);
    });
    printRecord(output, approval, [
      { name: "id", value: approval.approvalId },
      { name: "state", value: approval.state },
      { name: "task", value: approval.taskId },
      { name: "tool", value: approval.toolName },
      { name: "by", value: approval.decidedBy },
      { name: "reason", value: approval.reason },
      ...(approval.raiseByUsd == null
        ? []
        : [{ name: "raised by", value: approval.raiseByUsd, shown: `${formatUsd(approval.raiseByUsd)} USD` }]),
    ]);
    return undefined;
  };
}

/** Returns the ids of pending approvals that begin with a text. */
async function findPending(approvals: BridgeClient["approvals"], start: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  for await (const { approvalId } of approvals.list({ state: "pending" }, { signal }))
    if (approvalId.startsWith(start)) found.push(approvalId);
  return start === "" ? [] : found;
}
