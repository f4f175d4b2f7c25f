import type { ApprovalAnswer } from "#contract";
import type { Approval } from "../store/approvals/interface.ts";
import type { Store } from "../store/store.ts";
import { BRIDGE } from "./decision-log.ts";

interface RejectorOptions {
  store: Store;
  /** Passes the decision to the tool call. */
  answerCall(approvalId: string, answer: ApprovalAnswer): void;
  onFault(error: unknown, approval: Approval, message: string): void;
}

/** Rejects approvals that get no decision. If a decision was stored first, that one applies. */
export function createRejector({ store, answerCall, onFault }: RejectorOptions) {
  return {
    /** Rejects an approval of this process. */
    async reject(approval: Approval, reason: string): Promise<void> {
      const { task, approvalId } = approval;
      const rejection = { decision: "reject", by: BRIDGE, reason } as const;
      try {
        const decided =
          (await store.decideApprovalIfPending(task.tenant, approvalId, rejection, { isOwn: true })) ??
          (await store.findApproval(task.tenant, approvalId));
        const isApproved = decided?.state === "approved";
        answerCall(approvalId, isApproved ? { decision: "approve", reason: decided.reason } : createRejection(decided?.reason ?? reason));
      } catch (error) {
        onFault(error, approval, "failed to store a rejected approval, retrying");
        answerCall(approvalId, createRejection(reason));
        // The runtime has the rejection, so it is stored as soon as the disk accepts writes, before another decision is possible.
        await store.decideApprovalIfPending(task.tenant, approvalId, rejection, { isOwn: true, patient: true }).catch((error: unknown) => {
          onFault(error, approval, "failed to store a rejected approval");
        });
      }
    },
    /** Rejects an approval that has expired although no process watches it, for example because the process of its task hangs. */
    async rejectExpired(approval: Approval): Promise<Approval | null> {
      const { task, approvalId, createdAt, expiresAt } = approval;
      const reason = describeExpiry(((expiresAt ?? createdAt) - createdAt) / 1000);
      const rejection = { decision: "reject", by: BRIDGE, reason } as const;
      const rejected = await store.decideApprovalIfPending(task.tenant, approvalId, rejection, { isOwn: true });
      return rejected ?? (await store.findApproval(task.tenant, approvalId));
    },
  };
}

/** The answer to a tool call that is not approved. */
export const createRejection = (reason: string): ApprovalAnswer => ({ decision: "reject", reason });

/** The reason of an approval that got no decision in time. */
export const describeExpiry = (seconds: number): string => `No decision was made within ${seconds} s.`;
