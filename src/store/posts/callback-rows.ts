import { toWellFormedJson } from "#contract";
import type { Task } from "../../task.ts";
import { decodeGaps, encodeGaps, type GappedJson } from "../tasks/gapped-json.ts";
import { type StoredRow, toTaskIdentity } from "../tasks/rows.ts";
import type {
  Callback,
  CallbackAttempt,
  CallbackDetails,
  CallbackSettlement,
  CallbackState,
  DueCallback,
  NewCallback,
  SharedResult,
} from "./interface.ts";

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
    receiver: String(row["origin"]),
    ...toBody(Number(row["seq"]), body, readGapped),
    ...(row["message_id"] !== null && { messageId: String(row["message_id"]) }),
    roundAttempts: Number(row["attempts"]) - Number(row["round_start"]),
    traceparent: row["traceparent"] as string | null,
    tracestate: row["tracestate"] as string | null,
    happenedAt: Number(row["finished_at"]),
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
    ...{ url, receiver: origin, state: "pending", attempts: 0, roundAttempts: 0, lastStatus: null, lastError: null },
    ...{ nextAttemptAt: finishedAt, updatedAt: finishedAt, happenedAt: finishedAt, traceparent, tracestate },
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

/** A callback body as its row contains it. */
interface StoredBody {
  body: string;
  /** The column `body_gaps`: where the fields of the task's result belong. Null if the body is complete. */
  gaps: string | null;
}

/** Returns the columns of a body whose result is read from the row of the task. */
export const storeWithoutResult = ({ body, at }: SharedResult): StoredBody => ({ body, gaps: JSON.stringify({ result: at }) });

/** Whether a column `body_gaps` is from `storeWithoutResult`. */
const lacksResult = (gaps: unknown): gaps is string => typeof gaps === "string" && gaps.startsWith('{"result":');

/** Inserts the fields of the result, which restores the exact body. */
export function insertResult(body: string, gaps: string, resultJson: string): string {
  const { result: at } = JSON.parse(gaps) as { result: number };
  return body.slice(0, at) + resultJson.slice(1, -1) + body.slice(at);
}

/** Number of attempts that the history of a callback contains. A longer one drops its oldest attempts. */
const MAX_HISTORY_ATTEMPTS = 20;

/**
 * SQL that adds the line of an attempt to a history, so that an attempt is stored without reading the earlier ones. `position` is the
 * function that finds a text in another one. A line that is NULL adds nothing.
 */
export const extendHistory = ({ history, line, position }: Readonly<Record<"history" | "line" | "position", string>>): string => `coalesce(
    CASE WHEN length(${history}) - length(replace(${history}, '\n', '')) >= ${MAX_HISTORY_ATTEMPTS}
      THEN substr(${history}, ${position}(${history}, '\n') + 1) ELSE ${history} END || ${line}, ${line}, ${history})`;

/** Encodes the attempt after the first `attempts` ones, settled at this time, as a line. Null if the settlement does not describe it. */
export function encodeAttempt(attempts: number, { attempt, lastStatus, lastError }: CallbackSettlement, now: number): string | null {
  if (attempt === undefined) return null;
  const { startedMsAgo, durationMs, response } = attempt;
  const stored: CallbackAttempt = {
    number: attempts + 1,
    at: now - startedMsAgo,
    status: lastStatus,
    error: lastError,
    durationMs,
    response: response?.text ?? null,
    responseTruncated: response?.isTruncated ?? false,
  };
  return `${JSON.stringify(stored)}\n`;
}

/** Reads the column of a history. */
const decodeHistory = (text: string | null): CallbackAttempt[] =>
  (text ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as CallbackAttempt);

/**
 * Every pair of origin and tenant that has a pending callback, as the rows of `queue`; rows with a NULL end each list and match nothing.
 * Jumps from queue to queue along the index, so the cost depends on the number of queues and not of callbacks.
 */
export const pendingQueues = `WITH RECURSIVE waiting (origin) AS (
    SELECT min(origin) FROM callback WHERE state = 'pending'
    UNION ALL
    SELECT (SELECT min(origin) FROM callback WHERE state = 'pending' AND origin > waiting.origin) FROM waiting WHERE waiting.origin IS NOT NULL),
  queue (origin, tenant) AS (
    SELECT origin, (SELECT min(tenant) FROM callback c WHERE c.state = 'pending' AND c.origin = waiting.origin) FROM waiting
    UNION ALL
    SELECT origin, (SELECT min(tenant) FROM callback c WHERE c.state = 'pending' AND c.origin = queue.origin AND c.tenant > queue.tenant)
      FROM queue WHERE queue.tenant IS NOT NULL)`;

/**
 * The earliest end among the first task of each tenant with a pending callback. Jumps from tenant to tenant along the index, so the cost
 * does not depend on the number of callbacks. The comparison of rows makes PostgreSQL use
 * this index. It would read the callbacks in the order of their tasks for `min(task)`.
 */
export const oldestPending = `WITH RECURSIVE owner (tenant) AS (
    SELECT min(tenant) FROM callback
    UNION ALL
    SELECT (SELECT min(tenant) FROM callback WHERE tenant > owner.tenant) FROM owner WHERE owner.tenant IS NOT NULL)
  SELECT min((SELECT finished_at FROM task WHERE seq = (
    SELECT CASE WHEN c.tenant = owner.tenant AND c.state = 'pending' THEN c.task END FROM callback c
    WHERE (c.tenant, c.state, c.task) > (owner.tenant, 'pending', 0) ORDER BY c.tenant, c.state, c.task LIMIT 1))) AS at
  FROM owner WHERE owner.tenant IS NOT NULL`;

/** The pending callbacks of one row of `queue`. */
export const pendingOfQueue = "FROM callback c WHERE c.state = 'pending' AND c.origin = queue.origin AND c.tenant = queue.tenant";
