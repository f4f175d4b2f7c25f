import type { ApprovalKind, TaskIdentity, TaskRun } from "../../task.ts";
import type { NewEvent } from "../events/interface.ts";
import type { OrderedPage } from "../page.ts";

/** Tool calls, and tasks at the maximum of their budget, that wait for a decision. */
export interface ApprovalStore {
  /** Stores the approval together with its event; null when the task is not running, or has too many pending approvals. */
  insertApprovalIfRunning(task: TaskRun, approval: NewApproval): Promise<Approval | null>;
  /**
   * Stores the decision with its event; null when the approval is unknown, already decided or, unless the decision is
   * Bridge's own, expired.
   */
  decideApprovalIfPending(
    tenant: string,
    approvalId: string,
    decision: ApprovalDecision,
    options?: { isOwn: boolean; patient?: boolean },
  ): Promise<Approval | null>;
  findApproval(tenant: string, approvalId: string): Promise<Approval | null>;
  /** Returns fewer than `limit` if their inputs are long; only an empty list is the last page. */
  listApprovals(tenant: string, filter: ApprovalFilter, page: OrderedPage): Promise<Approval[]>;
  /** Pending approvals of a tool call, oldest first: several tasks may use one id. */
  listPendingApprovals(tenant: string, toolCallId: string): Promise<Approval[]>;
  hasPendingApproval(taskSeq: number): Promise<boolean>;
  /** By how much approvals have raised the maxima of a task. */
  readRaises(taskSeq: number): Promise<Raises>;
}

export const approvalStates = ["pending", "approved", "rejected"] as const;

export type ApprovalState = (typeof approvalStates)[number];

/** Amounts by which maxima grow, in millionths of a US dollar, and tokens. */
export interface Raises<Amount = number> {
  micros: Amount;
  tokens: Amount;
}

/** What waits, or has waited, for a decision. Times are ms since the epoch. */
export interface Approval {
  kind: ApprovalKind;
  task: TaskIdentity;
  /** The title of the task. */
  title: string | null;
  /** The number of the row, from which a list continues. */
  seq: number;
  approvalId: string;
  /** The runtime's id of the call: unique within its task only. The id of the approval if it decides no tool call. */
  toolCallId: string;
  /** The kind of the approval if it decides no tool call. */
  toolName: string;
  input: unknown;
  /** Whether only the beginning of the input is kept. */
  inputTruncated: boolean;
  /** The working directory of the task, relative to its workspace; null if it is the workspace. */
  cwd: string | null;
  state: ApprovalState;
  createdAt: number;
  /** Null if the approval waits without a time limit. */
  expiresAt: number | null;
  decidedAt: number | null;
  /** The name of a token; `bridge` if the approval expired or the task ended. */
  decidedBy: string | null;
  reason: string | null;
  /** By how much an approval raises the maxima of the task's own budget; null for a maximum that it does not have. */
  raises: Raises<number | null>;
}

/** An approval about to be stored. */
export interface NewApproval extends Pick<Approval, "approvalId" | "toolCallId" | "toolName"> {
  /** Default: `tool`. */
  kind?: ApprovalKind;
  /** By how much an approval raises the maxima unless the decision states an amount. Default: no raise. */
  raises?: Approval["raises"];
  /** JSON text: `{input, cwd?, truncated?}`. */
  shownInput: string;
  /** Null: without a time limit. */
  expiresInMs: number | null;
  /** `tool.approval_requested`, which contains `expiresAt`. */
  event(expiresAt: number | null): NewEvent;
}

/** The decision, who made it, and why. */
export interface ApprovalDecision {
  decision: "approve" | "reject";
  by: string;
  reason: string | null;
  /** By how much the maximum of the cost grows instead of the default. */
  raiseMicros?: number | undefined;
}

/** Selects approvals. */
export interface ApprovalFilter {
  state?: ApprovalState | undefined;
  taskId?: string | undefined;
}
