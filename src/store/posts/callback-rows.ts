import { toWellFormedJson } from "#contract";
import type { Task } from "../../task.ts";
import { decodeGaps, encodeGaps, type GappedJson } from "../tasks/gapped-json.ts";
import { type StoredRow, toTaskIdentity } from "../tasks/rows.ts";
import { insertResult, lacksResult, type StoredBody, storeWithoutResult } from "./body-without-result.ts";
import { decodeHistory } from "./callback-history.ts";
import type { Callback, CallbackDetails, CallbackState, DueCallback, NewCallback } from "./interface.ts";

/** Reads a JSON text with long texts, in parts. */
export type ReadGapped = (taskSeq: number, stored: GappedJson) => AsyncIterable<string>;

/** The columns of `toCallback`, of the callback `c` and its task `t`. */
export const callbackColumns = `c.url, c.state, c.attempts, c.next_at, c.last_status, c.last_error, c.updated_at,
    t.seq, t.tenant, t.id, t.parent_id, t.agent_id, t.provider`;

/** The columns of `toCallbackDetails`. */
export const callbackDetailColumns = `${callbackColumns}, c.history`;

/** The columns of `toDueCallback`. */
export const dueCallbackColumns = `${callbackColumns}, c.origin, c.body, c.body_gaps,
    CASE WHEN c.body_gaps LIKE '{"result":%' THEN t.result END AS result, c.message_id, c.round_start, t.traceparent, t.tracestate, t.finished_at`;

/** A callback row with the identity of its task. */
export const toCallback = (row: StoredRow): Callback => ({
  task: toTaskIdentity(row),
  url: String(row["url"]),
  state: row["state"] as CallbackState,
  attempts: Number(row["attempts"]),
  nextAttemptAt: row["next_at"] as number | null,
  lastStatus: row["last_status"] as number | null,
  lastError: row["last_error"] as string | null,
  updatedAt: Number(row["updated_at"]),
});

/** A callback row with its history. */
export const toCallbackDetails = (row: StoredRow): CallbackDetails => ({
  ...toCallback(row),
  history: decodeHistory(row["history"] as string | null),
});

/** A callback row with everything that its POST needs. */
export function toDueCallback(row: StoredRow, readGapped: ReadGapped): DueCallback {
  const [stored, gaps] = [String(row["body"]), row["body_gaps"]];
  const body = lacksResult(gaps)
    ? { json: insertResult(stored, gaps, String(row["result"])), gaps: [] }
    : { json: stored, gaps: decodeGaps(gaps) };
  return {
    ...toCallback(row),
    row: Number(row["seq"]),
    tenant: String(row["tenant"]),
    origin: String(row["origin"]),
    ...toBody(Number(row["seq"]), body, readGapped),
    ...(row["message_id"] !== null && { messageId: String(row["message_id"]) }),
    roundAttempts: Number(row["attempts"]) - Number(row["round_start"]),
    traceparent: row["traceparent"] as string | null,
    tracestate: row["tracestate"] as string | null,
    finishedAt: Number(row["finished_at"]),
  };
}

/** The columns of the body of a new callback, whose task ends with this result. */
export const toStoredBody = ({ body, shared, gaps = [] }: NewCallback, resultJson: string): StoredBody =>
  shared?.resultJson === resultJson ? storeWithoutResult(shared) : { body, gaps: encodeGaps(gaps) };

/** A callback as the end of its task has just stored it. */
export function toNewDueCallback(
  { seq, tenant, taskId, parentTaskId, agentId, provider, traceparent, tracestate }: Task,
  { url, origin, body, gaps = [], messageId }: NewCallback,
  { finishedAt, readGapped }: { finishedAt: number; readGapped: ReadGapped },
): DueCallback {
  return {
    task: { seq, tenant, taskId, parentTaskId, agentId, provider },
    ...{ row: seq, tenant },
    ...{ url, origin, state: "pending", attempts: 0, roundAttempts: 0, lastStatus: null, lastError: null },
    ...{ nextAttemptAt: finishedAt, updatedAt: finishedAt, finishedAt, traceparent, tracestate },
    ...toBody(seq, { json: body, gaps }, readGapped),
    ...(messageId !== undefined && { messageId }),
  };
}

function toBody(taskSeq: number, stored: GappedJson, readGapped: ReadGapped): Pick<DueCallback, "heldLength" | "body" | "readBody"> {
  const heldLength = stored.json.length;
  // Earlier versions stored unpaired surrogates.
  if (stored.gaps.length === 0) return { heldLength, body: toWellFormedJson(stored.json) };
  return { heldLength, body: "", readBody: () => readGapped(taskSeq, stored) };
}
