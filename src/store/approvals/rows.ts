import { parseExactJson, stringifyWellFormed } from "#contract";
import { type ApprovalKind, MICROS_PER_USD } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { NewEvent } from "../events/interface.ts";
import { type StoredRow, toTaskIdentity } from "../tasks/rows.ts";
import type { Approval, ApprovalDecision, ApprovalState, Raises } from "./interface.ts";

/** Maximum pending approvals of one task. They are read at once when a tool call is looked up and when the task ends. */
export const MAX_PENDING_APPROVALS = 100;

/** The column `expires_at` of an approval without a time limit: the last time that a Date can represent. */
export const NO_EXPIRY = 8_640_000_000_000_000;

/** The columns of `toApproval`, of the approval `a` and its task `t`, without the title, which each engine stores elsewhere. */
export const approvalColumns = `a.seq AS approval_seq, a.id AS approval_id, a.tool_call_id, a.tool_name, a.input, a.state, a.created_at,
    a.expires_at, a.decided_at, a.decided_by, a.reason, a.kind, a.raise_micros, a.raise_tokens, t.seq, t.tenant, t.id, t.parent_id, t.agent_id, t.provider`;

/** An approval row with the identity of its task. */
export function toApproval(row: StoredRow): Approval {
  const shown = parseExactJson(String(row["input"])) as { input?: unknown; cwd?: string; truncated?: boolean };
  const { input = null, cwd = null, truncated = false } = shown;
  return {
    kind: row["kind"] as ApprovalKind,
    task: toTaskIdentity(row),
    title: (row["title"] ?? null) as string | null,
    seq: Number(row["approval_seq"]),
    approvalId: String(row["approval_id"]),
    toolCallId: String(row["tool_call_id"]),
    toolName: String(row["tool_name"]),
    input,
    inputTruncated: truncated,
    cwd,
    state: row["state"] as ApprovalState,
    createdAt: Number(row["created_at"]),
    expiresAt: Number(row["expires_at"]) === NO_EXPIRY ? null : Number(row["expires_at"]),
    decidedAt: row["decided_at"] as number | null,
    decidedBy: row["decided_by"] as string | null,
    reason: row["reason"] as string | null,
    raises: { micros: row["raise_micros"] as number | null, tokens: row["raise_tokens"] as number | null },
  };
}

/** Whether a decision may still be stored: the approval is pending and, unless the decision is Bridge's own, has not expired. */
export const isDecidable = ({ state, expiresAt }: Approval, { isOwn, now }: { isOwn: boolean; now: number }): boolean =>
  state === "pending" && (isOwn || expiresAt === null || expiresAt > now);

/** The approval after its decision, whose columns an engine stores. */
export function toDecided(approval: Approval, { decision, by, reason, raiseMicros }: ApprovalDecision, decidedAt: number): Approval {
  const state = decision === "approve" ? "approved" : "rejected";
  const raises = raiseMicros === undefined ? approval.raises : { ...approval.raises, micros: raiseMicros };
  return { ...approval, state, decidedAt, decidedBy: by, reason: reason === null ? null : toColumnText(reason), raises };
}

/** The decision about approvals that are still pending when their task ends or is queued again. */
export const toRejection = (reason: string): ApprovalDecision => ({ decision: "reject", by: "bridge", reason });

/** The event that announces a decision. */
export function toDecisionEvent(approval: Approval): NewEvent {
  const { approvalId, kind, toolCallId, state, decidedBy, reason } = approval;
  const decision = state === "approved" ? "approve" : "reject";
  const raise = kind === "budget" && { raiseByUsd: toRaiseUsd(approval) };
  return {
    type: "tool.approval_resolved",
    data: stringifyWellFormed({ approvalId, kind, toolCallId, decision, by: decidedBy, reason, ...raise }),
  };
}

/** By how many US dollars an approval has raised a maximum; null if it has not. */
export const toRaiseUsd = ({ state, raises }: Pick<Approval, "state" | "raises">): number | null =>
  state === "approved" && raises.micros !== null && raises.micros > 0 ? raises.micros / MICROS_PER_USD : null;

/** The statement that adds up the raises of a task, after the parameter of its engine. */
export const selectRaises = (parameter: string): string =>
  `SELECT coalesce(sum(raise_micros), 0) AS micros, coalesce(sum(raise_tokens), 0) AS tokens FROM approval
   WHERE task = ${parameter} AND state = 'approved'`;

/** A row of `selectRaises`. */
export const toRaises = (row: StoredRow | undefined): Raises => ({ micros: Number(row?.["micros"]), tokens: Number(row?.["tokens"]) });
