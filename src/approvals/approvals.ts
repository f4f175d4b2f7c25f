import { v7 as uuidv7 } from "uuid";
import type { AdapterLogger, ApprovalAnswer, ApprovalQuestion } from "#contract";
import { BridgeError } from "../errors.ts";
import { encodeEventData } from "../events/encode-event-data.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { Approval, ApprovalDecision, ApprovalState, Page, Store } from "../store/store.ts";
import type { TaskIdentity } from "../task.ts";

export { type Approval, approvalStates } from "../store/store.ts";

export type Approvals = ReturnType<typeof createApprovals>;

interface ApprovalsOptions {
  store: Store;
  eventLog: EventLog;
  metrics: Metrics;
  logger: AdapterLogger;
  /** Time until an approval without a decision is rejected. */
  seconds: number;
}

/** `decidedBy` of approvals that expire or whose task ends. */
const BRIDGE = "bridge";
/** Maximum length of the id and name of a tool call, in UTF-16 units. */
const MAX_NAME_LENGTH = 1024;

/** Creates the approvals of tool calls. Each is decided once. After an error, or without a decision, the call is rejected. */
export function createApprovals({ store, eventLog, metrics, logger, seconds }: ApprovalsOptions) {
  /** Functions that resolve the tool calls that wait for a decision, by approval id. */
  const waiting = new Map<string, (answer: ApprovalAnswer) => void>();

  /**
   * Requests a decision and resolves with it; never rejects. When the signal is aborted, its reason becomes the reason of the rejection.
   */
  async function ask(task: TaskIdentity, question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer> {
    const approval = await insert(task, question).catch((error: unknown) => {
      logger.error({ err: error, taskId: task.taskId, tenant: task.tenant }, "failed to request an approval");
      return null;
    });
    if (approval === null)
      return createRejection(
        "The approval cannot be requested: the task has ended, waits for too many decisions, or its tool call cannot be stored.",
      );
    const decided = Promise.withResolvers<ApprovalAnswer>();
    const { approvalId } = approval;
    waiting.set(approvalId, decided.resolve);
    const timer = setTimeout(() => void close(approval, `No decision was made within ${seconds} s.`), seconds * 1000);
    const onAbort = (): void => void close(approval, String(signal.reason));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await decided.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      waiting.delete(approvalId);
    }
  }

  async function insert(task: TaskIdentity, { toolCallId, toolName, input }: ApprovalQuestion): Promise<Approval | null> {
    if (toolCallId.length > MAX_NAME_LENGTH || toolName.length > MAX_NAME_LENGTH) return null;
    const approvalId = `apr_${uuidv7()}`;
    // Passes earlier events to the store first, so that they are written before the approval. While the disk accepts no writes, the events
    // wait and the approval is rejected.
    void eventLog.settle(task);
    return await store.insertApprovalIfRunning(task, {
      approvalId,
      toolCallId,
      toolName,
      shownInput: encodeEventData({ input: input ?? null }),
      expiresInMs: seconds * 1000,
      event: (expiresAt) => ({
        type: "tool.approval_requested",
        data: encodeEventData({ approvalId, toolCallId, toolName, input, expiresAt: new Date(expiresAt).toISOString() }),
      }),
    });
  }

  /** Rejects an approval without a decision. If a decision was stored first, that one applies. */
  async function close(approval: Approval, reason: string): Promise<void> {
    const { task, approvalId } = approval;
    const rejection = { decision: "reject", by: BRIDGE, reason } as const;
    try {
      const decided =
        (await store.decideApprovalIfPending(task.tenant, approvalId, rejection, { isOwn: true })) ??
        (await store.findApproval(task.tenant, approvalId));
      settle(
        approvalId,
        decided?.state === "approved" ? { decision: "approve", reason: decided.reason } : createRejection(decided?.reason ?? reason),
      );
    } catch (error) {
      logFailure(error, approval, "failed to store a rejected approval, retrying");
      settle(approvalId, createRejection(reason));
      // The runtime has the rejection, so it is stored as soon as the disk accepts writes, before another decision is possible.
      await store.decideApprovalIfPending(task.tenant, approvalId, rejection, { isOwn: true, patient: true }).catch((error: unknown) => {
        logFailure(error, approval, "failed to store a rejected approval");
      });
    }
  }

  function logFailure(error: unknown, { task, approvalId }: Pick<Approval, "task" | "approvalId">, message: string): void {
    logger.error({ err: error, approvalId, taskId: task.taskId, tenant: task.tenant }, message);
  }

  function settle(approvalId: string, answer: ApprovalAnswer): void {
    waiting.get(approvalId)?.(answer);
  }

  // The audit log. Includes approvals that the end of their task has decided.
  eventLog.subscribe((events) => {
    for (const { type, task, data } of events) {
      if (type !== "tool.approval_resolved") continue;
      const { approvalId } = JSON.parse(data);
      logDecision(task, approvalId).catch((error: unknown) => logFailure(error, { task, approvalId }, "failed to read a decided approval"));
    }
  });

  async function logDecision({ tenant, taskId, provider }: TaskIdentity, approvalId: string): Promise<void> {
    const approval = await store.findApproval(tenant, approvalId);
    if (approval === null) return;
    const { toolCallId, toolName, state, decidedBy, reason } = approval;
    metrics.approvals.inc({ provider, decision: decidedBy === BRIDGE ? "unanswered" : state });
    logger.info({ approvalId, taskId, tenant, toolCallId, toolName, state, decidedBy, reason }, "approval decided");
  }

  return {
    ask,
    /** Lists the approvals of a tenant, newest first. */
    list: (tenant: string, state: ApprovalState | undefined, page: Page): Promise<Approval[]> => store.listApprovals(tenant, state, page),
    /** Lists the pending approvals of tool calls with this id. Several tasks may use the same id. */
    findPending: (tenant: string, toolCallId: string): Promise<Approval[]> => store.listPendingApprovals(tenant, toolCallId),
    /** Stores a decision. Throws BridgeError: not_found, already_decided. */
    async decide(tenant: string, approvalId: string, decision: ApprovalDecision): Promise<Approval> {
      const decided = await store.decideApprovalIfPending(tenant, approvalId, decision);
      if (decided !== null) {
        settle(approvalId, { decision: decision.decision, reason: decision.reason });
        return decided;
      }
      const known = await store.findApproval(tenant, approvalId);
      if (known === null) throw new BridgeError("not_found", "There is no such approval.");
      throw new BridgeError("already_decided", describeDecision(known));
    },
  };
}

const createRejection = (reason: string): ApprovalAnswer => ({ decision: "reject", reason });

function describeDecision({ state, decidedBy }: Approval): string {
  if (state === "pending") return "The approval has expired, so it is rejected.";
  return `The approval was already ${state} ${decidedBy === BRIDGE ? "because no decision was made in time" : `by ${decidedBy}`}.`;
}
