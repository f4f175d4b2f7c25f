import { v7 as uuidv7 } from "uuid";
import type { AdapterLogger, ApprovalAnswer, ApprovalQuestion } from "#contract";
import { BridgeError } from "../errors.ts";
import { encodeEventData } from "../events/encode-event-data.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { Approval, ApprovalDecision, ApprovalFilter, NewApproval } from "../store/approvals/interface.ts";
import type { OrderedPage } from "../store/page.ts";
import type { Store } from "../store/store.ts";
import { MICROS_PER_USD, type Task, type TaskRun } from "../task.ts";
import { callAfter } from "../timers/call-after.ts";
import type { TracedTask } from "../trace-context.ts";
import { createDecisionLog } from "./decision-log.ts";
import { createRejection, createRejector, describeExpiry } from "./reject-approval.ts";

export { type Approval, approvalStates } from "../store/approvals/interface.ts";
export { toRaiseUsd } from "../store/approvals/rows.ts";

export type Approvals = ReturnType<typeof createApprovals>;

interface ApprovalsOptions {
  store: Store;
  eventLog: EventLog;
  metrics: Metrics;
  logger: AdapterLogger;
  /** Returns the trace context of the run of a task, for the log; null if the task belongs to no trace. */
  runTraceparent?(task: TracedTask): string | null;
  /** Time until an approval without a decision is rejected; 0: never. */
  seconds: number;
}

/** What a person decides. The answer to a budget has no amount: the store adds up the raises of a task. */
export type Question =
  | ({ kind?: "tool" } & Omit<ApprovalQuestion, "taskId">)
  | ({ kind: "budget"; input: Readonly<Record<string, number | null>> } & Pick<Approval, "raises">);

/** The decision of a client. */
export type Decision = Omit<ApprovalDecision, "raiseMicros"> & { raiseByUsd?: number | undefined };

/** The run of a task, and its request. */
type AskingTask = TaskRun & Pick<Task, "request" | "traceparent">;

/** Maximum length of the id and name of a tool call, in UTF-16 units. */
const MAX_NAME_LENGTH = 1024;

/** Creates the approvals. Each is decided once. After an error, or without a decision, it is rejected. */
export function createApprovals({ store, eventLog, metrics, logger, seconds, ...options }: ApprovalsOptions) {
  const { runTraceparent = ({ traceparent }) => traceparent } = options;
  /** What waits for a decision, by approval id, the longest waiting first. */
  const waiting = new Map<string, { resolve(answer: ApprovalAnswer): void; since: number }>();
  const decisions = createDecisionLog({ store, eventLog, metrics, logger, runTraceparent, onDecision: answerCall });
  const rejector = createRejector({
    store,
    answerCall,
    onFault: (error, { task, approvalId }, message) => logger.error({ err: error, approvalId, ...decisions.fieldsOf(task) }, message),
  });

  /** Requests a decision and resolves with it; never rejects. The reason of an aborted signal becomes the reason of the rejection. */
  async function ask(task: AskingTask, question: Question, signal: AbortSignal): Promise<ApprovalAnswer> {
    const approvalId = `apr_${uuidv7()}`;
    const decided = Promise.withResolvers<ApprovalAnswer>();
    // Before the approval is stored, so that no decision is missed.
    waiting.set(approvalId, { resolve: decided.resolve, since: performance.now() });
    decisions.adopt(task);
    try {
      const approval = await insert(task, approvalId, question);
      return approval === null ? createRejection(NOT_REQUESTED) : await waitForDecision(approval, decided.promise, signal);
    } catch (error) {
      logger.error({ err: error, ...decisions.fieldsOf(task) }, "failed to request an approval");
      return createRejection(NOT_REQUESTED);
    } finally {
      waiting.delete(approvalId);
    }
  }

  /** Rejects the approval when its time is over, if it has a time limit, or when the signal is aborted. */
  async function waitForDecision(approval: Approval, decided: Promise<ApprovalAnswer>, signal: AbortSignal): Promise<ApprovalAnswer> {
    const timer = seconds === 0 ? null : callAfter(seconds * 1000, () => void rejector.reject(approval, describeExpiry(seconds)));
    const onAbort = (): void => void rejector.reject(approval, String(signal.reason));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await decided;
    } finally {
      timer?.cancel();
      signal.removeEventListener("abort", onAbort);
    }
  }

  async function insert(task: AskingTask, approvalId: string, question: Question): Promise<Approval | null> {
    const { toolCallId, toolName } = toCall(approvalId, question);
    if (toolCallId.length > MAX_NAME_LENGTH || toolName.length > MAX_NAME_LENGTH) return null;
    // Passes earlier events to the store first, so that they are written before the approval. While the disk accepts no writes, the events
    // wait and the approval is rejected.
    void eventLog.flush(task);
    return await store.insertApprovalIfRunning(task, toNewApproval(approvalId, question, { cwd: task.request.metadata?.["cwd"], seconds }));
  }

  function answerCall(approvalId: string, answer: ApprovalAnswer): void {
    waiting.get(approvalId)?.resolve(answer);
  }

  return {
    ask,
    adopt: decisions.adopt,
    release: decisions.release,
    /** How many approvals of this process wait for a decision, and for how long the first of them has waited. */
    describeWaiting(): { count: number; oldestMs: number } {
      const [oldest] = waiting.values();
      return { count: waiting.size, oldestMs: oldest === undefined ? 0 : performance.now() - oldest.since };
    },
    /** Lists the approvals of a tenant that match the filter. */
    list: (tenant: string, filter: ApprovalFilter, page: OrderedPage): Promise<Approval[]> => store.listApprovals(tenant, filter, page),
    /** Lists the pending approvals of tool calls with this id. Several tasks may use the same id. */
    findPending: (tenant: string, toolCallId: string): Promise<Approval[]> => store.listPendingApprovals(tenant, toolCallId),
    /** Stores a decision. Throws BridgeError: invalid_request, not_found, already_decided. */
    async decide(tenant: string, approvalId: string, { raiseByUsd, ...decision }: Decision): Promise<Approval> {
      if (raiseByUsd !== undefined) checkRaise(await store.findApproval(tenant, approvalId), decision, raiseByUsd);
      const raiseMicros = raiseByUsd === undefined ? undefined : Math.round(raiseByUsd * MICROS_PER_USD);
      const decided = await store.decideApprovalIfPending(tenant, approvalId, { ...decision, raiseMicros });
      if (decided !== null) return decided;
      const stored = await store.findApproval(tenant, approvalId);
      const known = stored?.state === "pending" ? await rejector.rejectExpired(stored) : stored;
      if (known === null) throw new BridgeError("not_found", "There is no such approval.");
      throw new BridgeError("already_decided", describeDecision(known));
    },
  };
}

const NOT_REQUESTED =
  "The approval cannot be requested: the task has ended, waits for too many decisions, or its tool call cannot be stored.";

/** Readers of earlier versions expect a tool call. */
const toCall = (approvalId: string, question: Question): Pick<Approval, "toolCallId" | "toolName"> =>
  question.kind === "budget" ? { toolCallId: approvalId, toolName: question.kind } : question;

function checkRaise(approval: Approval | null, { decision }: Pick<Decision, "decision">, raiseByUsd: number): void {
  if (approval === null) return;
  const reason = findRaiseObstacle(approval, decision);
  if (reason === null) return;
  throw new BridgeError("invalid_request", "The decision is not valid.", {
    errors: [{ path: "raiseByUsd", message: `must be omitted: ${reason}; got ${raiseByUsd}` }],
  });
}

function findRaiseObstacle({ kind, raises }: Approval, decision: Decision["decision"]): string | null {
  if (kind === "tool") return "the approval is for a tool call, not for a budget";
  if (decision === "reject") return "only an approval raises the maximum";
  return raises.micros === null ? "the budget of the task has no maxCostUsd, and an approval raises its maxTokens" : null;
}

function toNewApproval(approvalId: string, question: Question, { cwd, seconds }: { cwd: unknown; seconds: number }): NewApproval {
  const { kind = "tool", input } = question;
  const { toolCallId, toolName } = toCall(approvalId, question);
  return {
    approvalId,
    kind,
    ...(question.kind === "budget" && { raises: question.raises }),
    toolCallId,
    toolName,
    shownInput: encodeEventData({ input: input ?? null, cwd }),
    expiresInMs: seconds === 0 ? null : seconds * 1000,
    event: (expiresAt) => ({
      type: "tool.approval_requested",
      data: encodeEventData({
        approvalId,
        kind,
        toolCallId,
        toolName,
        input,
        expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      }),
    }),
  };
}

const describeDecision = ({ state, decidedBy, reason }: Approval): string =>
  `The approval was already ${state} by ${decidedBy}${reason === null || reason === "" ? "." : `: ${reason}`}`;
