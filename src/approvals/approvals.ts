import { v7 as uuidv7 } from "uuid";
import type { AdapterLogger, ApprovalAnswer, ApprovalQuestion } from "#contract";
import { BridgeError } from "../errors.ts";
import { encodeEventData } from "../events/encode-event-data.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { Approval, ApprovalDecision, ApprovalState, Page, Store } from "../store/store.ts";
import type { TaskIdentity } from "../task.ts";

export { type Approval, approvalStates } from "../store/store.ts";

/** Tool calls that wait for yes or no. One decision only; whatever goes wrong, the answer is no. */
export interface Approvals {
  /** Asks, and resolves with the answer; never rejects. The signal's reason says why nobody needs an answer any more. */
  ask(task: TaskIdentity, question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** Newest first. */
  list(tenant: string, state: ApprovalState | undefined, page: Page): Promise<Approval[]>;
  /** Those that wait for an answer to this tool call: several tasks may use one id. */
  findPending(tenant: string, toolCallId: string): Promise<Approval[]>;
  /** Throws BridgeError when there is no such approval, or when it has been decided. */
  decide(tenant: string, approvalId: string, decision: ApprovalDecision): Promise<Approval>;
}

/** What approvals are made with. */
export interface ApprovalsOptions {
  store: Pick<Store, "insertApprovalIfRunning" | "decideApprovalIfPending" | "findApproval" | "listApprovals" | "listPendingApprovals">;
  eventLog: Pick<EventLog, "settle" | "subscribe">;
  metrics: Metrics;
  logger: AdapterLogger;
  /** How long one waits. */
  seconds: number;
}

/** Who decides when nobody has. */
const BRIDGE = "bridge";
/** Ids and names that are longer are no ids and names. */
const MAX_NAME_LENGTH = 1024;

/** Keeps the approvals of this process: what waits in memory, what is asked and decided in the store. */
export function createApprovals({ store, eventLog, metrics, logger, seconds }: ApprovalsOptions): Approvals {
  /** Who waits for an answer here, by approval. */
  const waiting = new Map<string, (answer: ApprovalAnswer) => void>();

  async function ask(task: TaskIdentity, question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer> {
    const approval = await request(task, question).catch((error: unknown) => {
      logger.error({ err: error, taskId: task.taskId, tenant: task.tenant }, "an approval cannot be asked for");
      return null;
    });
    if (approval === null)
      return no("The approval could not be asked for: the task is over, waits for too many answers, or its call cannot be stored.");
    const answered = Promise.withResolvers<ApprovalAnswer>();
    const { approvalId } = approval;
    waiting.set(approvalId, answered.resolve);
    const timer = setTimeout(() => void close(approval, `Nobody answered within ${seconds} s.`), seconds * 1000);
    const onAbort = (): void => void close(approval, String(signal.reason));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await answered.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      waiting.delete(approvalId);
    }
  }

  async function request(task: TaskIdentity, { toolCallId, toolName, input }: ApprovalQuestion): Promise<Approval | null> {
    if (toolCallId.length > MAX_NAME_LENGTH || toolName.length > MAX_NAME_LENGTH) return null;
    const approvalId = `apr_${uuidv7()}`;
    // What the runtime has said before goes into the queue of the store before the question. On a disk that takes no writes it waits there; the
    // question does not.
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

  /** Says no because nobody has answered; a decision that came first counts. */
  async function close(approval: Approval, reason: string): Promise<void> {
    const { task, approvalId } = approval;
    const rejection = { decision: "reject", by: BRIDGE, reason } as const;
    try {
      const decided =
        (await store.decideApprovalIfPending(task.tenant, approvalId, rejection, { isOwn: true })) ??
        (await store.findApproval(task.tenant, approvalId));
      settle(approvalId, decided?.state === "approved" ? { decision: "approve", reason: decided.reason } : no(decided?.reason ?? reason));
    } catch (error) {
      fault(error, approval, "a rejected approval cannot be stored yet");
      settle(approvalId, no(reason));
      // What the runtime was told is written as soon as the disk takes it, before anybody else can decide.
      await store.decideApprovalIfPending(task.tenant, approvalId, rejection, { isOwn: true, patient: true }).catch((error: unknown) => {
        fault(error, approval, "a rejected approval was not stored");
      });
    }
  }

  function fault(error: unknown, { task, approvalId }: Pick<Approval, "task" | "approvalId">, message: string): void {
    logger.error({ err: error, approvalId, taskId: task.taskId, tenant: task.tenant }, message);
  }

  function settle(approvalId: string, answer: ApprovalAnswer): void {
    waiting.get(approvalId)?.(answer);
  }

  // Who decided what, when and why, for the audit; what the end of a task has decided is among it.
  eventLog.subscribe((events) => {
    for (const { type, task, data } of events) {
      if (type !== "tool.approval_resolved") continue;
      const { approvalId } = JSON.parse(data);
      note(task, approvalId).catch((error: unknown) => fault(error, { task, approvalId }, "failed to read a decided approval"));
    }
  });

  async function note({ tenant, taskId, provider }: TaskIdentity, approvalId: string): Promise<void> {
    const approval = await store.findApproval(tenant, approvalId);
    if (approval === null) return;
    const { toolCallId, toolName, state, decidedBy, reason } = approval;
    metrics.approvals.inc({ provider, decision: decidedBy === BRIDGE ? "unanswered" : state });
    logger.info({ approvalId, taskId, tenant, toolCallId, toolName, state, decidedBy, reason }, "approval decided");
  }

  return {
    ask,
    list: (tenant, state, page) => store.listApprovals(tenant, state, page),
    findPending: (tenant, toolCallId) => store.listPendingApprovals(tenant, toolCallId),
    async decide(tenant, approvalId, decision) {
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

const no = (reason: string): ApprovalAnswer => ({ decision: "reject", reason });

function describeDecision({ state, decidedBy }: Approval): string {
  if (state === "pending") return "The approval has expired: it counts as rejected.";
  return `The approval was ${state} ${decidedBy === BRIDGE ? "because nobody had answered" : `by ${decidedBy}`} before.`;
}
