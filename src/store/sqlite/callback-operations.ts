import type { Task } from "../../task.ts";
import { decodeGaps, encodeGaps, type GappedJson } from "../gapped-json.ts";
import { type Callback, type CallbackState, callbackStates, type DueCallback, type NewCallback, type Store } from "../store.ts";
import { insertResult, lacksResult, removeResult } from "./body-without-result.ts";
import type { createEventOperations } from "./event-operations.ts";
import { toTaskIdentity } from "./event-operations.ts";
import type { createLongTextOperations } from "./long-text-operations.ts";
import type { Row, SqliteDriver } from "./sqlite-driver.ts";

/** The other parts of the store that callback operations use. */
interface Dependencies {
  events: ReturnType<typeof createEventOperations>;
  longTexts: Pick<ReturnType<typeof createLongTextOperations>, "readGapped">;
  clock: () => number;
}

/** When a task ended, and its result as it is stored. */
interface TaskEnd {
  now: number;
  resultJson: string;
}

/** The operations of the callback outbox. */
export function createCallbackOperations(driver: SqliteDriver, { events, longTexts, clock }: Dependencies) {
  const find = (taskSeq: number): Callback | null => {
    const row = driver.get(`SELECT ${callbackColumns} ${fromCallbacks} WHERE c.task = ?`, taskSeq);
    return row === undefined ? null : toCallback(row);
  };

  let latest = Number.POSITIVE_INFINITY;
  /**
   * Restarts the delays of pending callbacks if the system clock was set back, also while Bridge was down: otherwise
   * they would wait that much longer.
   */
  async function correctSchedule(): Promise<void> {
    const now = clock();
    const wasSetBack = now < latest;
    latest = now;
    if (!wasSetBack) return;
    const update = "UPDATE callback SET next_at = ? + (next_at - updated_at), updated_at = ? WHERE state = 'pending' AND updated_at > ?";
    await driver.write(() => driver.run(update, now, now, now), { lazy: true, patient: true });
  }

  let announce: (callback: DueCallback) => void = () => {};

  const operations = {
    onCallback(listener) {
      announce = listener;
    },
    findCallback: async (taskSeq) => find(taskSeq),
    async listCallbacks(tenant, state, page) {
      const before = page.before ?? Number.MAX_SAFE_INTEGER;
      const select = `SELECT ${callbackColumns} ${fromCallbacks} WHERE c.tenant = ? AND c.state = ? AND c.task < ? ORDER BY c.task DESC LIMIT ?`;
      // One index serves lists with and without a state: the newest callbacks are among the newest ones of each state.
      const states = state === undefined ? callbackStates : [state];
      const rows = states.flatMap((one) => driver.all(select, tenant, one, before, page.limit));
      rows.sort((a, b) => Number(b["seq"]) - Number(a["seq"]));
      return rows.slice(0, page.limit).map(toCallback);
    },
    /** Jumps from queue to queue along the index, so the cost depends on the number of queues and not of callbacks. */
    async listDueCallbackQueues() {
      const rows = driver.all(
        `${pendingQueues} SELECT origin, tenant FROM queue WHERE (SELECT min(next_at) ${pendingOfQueue}) <= ?`,
        clock(),
      );
      return rows.map((row) => ({ tenant: String(row["tenant"]), origin: String(row["origin"]) }));
    },
    /** Loads only the rows that are returned, because a body can be long. */
    async listDueCallbacks({ tenant, origin }, limit, inProgress = new Set()) {
      const due = driver.all(
        `SELECT task FROM callback c WHERE state = 'pending' AND origin = ? AND tenant = ? AND next_at <= ?
           AND NOT EXISTS (SELECT 1 FROM callback_dedup d WHERE d.task = c.task) ORDER BY next_at, task LIMIT ?`,
        origin,
        tenant,
        clock(),
        limit + inProgress.size,
      );
      const next = due.map((row) => Number(row["task"])).filter((seq) => !inProgress.has(seq));
      return next
        .slice(0, limit)
        .map((seq) => toDueCallback(driver.get(`SELECT ${dueColumns} ${fromCallbacks} WHERE c.task = ?`, seq) as Row, longTexts));
    },
    async nextCallbackInMs() {
      await correctSchedule();
      const now = clock();
      const next = driver.get(
        `${pendingQueues} SELECT min((SELECT min(next_at) ${pendingOfQueue} AND c.next_at > ?)) AS at FROM queue`,
        now,
      )?.["at"];
      return typeof next === "number" ? next - now : null;
    },
    settleCallbackIfPending: (task, settlement) =>
      driver.write(
        () => {
          const now = clock();
          const row = driver.get(
            `UPDATE callback SET state = ?, attempts = attempts + 1, next_at = ?, last_status = ?, last_error = ?, updated_at = ?,
               body = CASE WHEN ? = 'delivered' THEN NULL ELSE body END
             WHERE task = ? AND state = 'pending' RETURNING attempts`,
            settlement.state,
            settlement.nextInMs === null ? null : now + settlement.nextInMs,
            settlement.lastStatus,
            settlement.lastError,
            now,
            settlement.state,
            task.seq,
          );
          if (row === undefined) return null;
          const attempts = Number(row["attempts"]);
          if (settlement.state === "delivered")
            driver.run("INSERT INTO callback_dedup (task, at) VALUES (?, ?) ON CONFLICT DO NOTHING", task.seq, now);
          if (settlement.event !== null) events.append(task, settlement.event(attempts), now);
          return attempts;
        },
        { lazy: true, patient: true },
      ),
    redeliverCallbackIfDead: (taskSeq) =>
      driver.write(() => {
        const now = clock();
        const changed = driver.run(
          "UPDATE callback SET state = 'pending', round_start = attempts, next_at = ?, updated_at = ? WHERE task = ? AND state = 'dead'",
          now,
          now,
          taskSeq,
        );
        return changed === 1 ? find(taskSeq) : null;
      }),
  } satisfies Partial<Store>;

  return {
    insert: (task: Task, callback: NewCallback, end: TaskEnd) => insertCallback({ driver, longTexts }, task, callback, end),
    announce: (callback: DueCallback) => announce(callback),
    operations,
  };
}

/** Stores a callback inside the operation that ends its task. Call `announce` with the result after the commit. */
function insertCallback(
  { driver, longTexts }: { driver: SqliteDriver; longTexts: Dependencies["longTexts"] },
  task: Task,
  { url, origin, body, resultAt, gaps = [], messageId }: NewCallback,
  { now, resultJson }: TaskEnd,
): DueCallback {
  const stored = resultAt === undefined ? { body, gaps: encodeGaps(gaps) } : removeResult(body, resultAt, resultJson);
  driver.run(
    `INSERT INTO callback (task, tenant, url, origin, body, body_gaps, message_id, state, next_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    task.seq,
    task.tenant,
    url,
    origin,
    stored.body,
    stored.gaps,
    messageId ?? null,
    now,
    now,
  );
  const { seq, tenant, taskId, parentTaskId, agentId, provider, traceparent } = task;
  return {
    task: { seq, tenant, taskId, parentTaskId, agentId, provider },
    ...{ url, origin, state: "pending", attempts: 0, roundAttempts: 0, lastStatus: null, lastError: null },
    ...{ nextAttemptAt: now, updatedAt: now, finishedAt: now, traceparent },
    ...toBody(seq, { json: body, gaps }, longTexts),
    ...(messageId !== undefined && { messageId }),
  };
}

/** Every pair of origin and tenant that has a pending callback; rows with a NULL end each list and match nothing. */
const pendingQueues = `WITH RECURSIVE waiting (origin) AS (
    SELECT min(origin) FROM callback WHERE state = 'pending'
    UNION ALL
    SELECT (SELECT min(origin) FROM callback WHERE state = 'pending' AND origin > waiting.origin) FROM waiting WHERE waiting.origin IS NOT NULL),
  queue (origin, tenant) AS (
    SELECT origin, (SELECT min(tenant) FROM callback c WHERE c.state = 'pending' AND c.origin = waiting.origin) FROM waiting
    UNION ALL
    SELECT origin, (SELECT min(tenant) FROM callback c WHERE c.state = 'pending' AND c.origin = queue.origin AND c.tenant > queue.tenant)
      FROM queue WHERE queue.tenant IS NOT NULL)`;
const pendingOfQueue = "FROM callback c WHERE c.state = 'pending' AND c.origin = queue.origin AND c.tenant = queue.tenant";

const fromCallbacks = "FROM callback c CROSS JOIN task t ON t.seq = c.task";
const callbackColumns = `c.url, c.state, c.attempts, c.next_at, c.last_status, c.last_error, c.updated_at,
    t.seq, t.tenant, t.id, t.parent_id, t.agent_id, t.provider`;
const dueColumns = `${callbackColumns}, c.origin, c.body, c.body_gaps, CASE WHEN c.body_gaps LIKE '{"result":%' THEN t.result END AS result,
    c.message_id, c.round_start, t.traceparent, t.finished_at`;

function toCallback(row: Row): Callback {
  return {
    task: toTaskIdentity(row),
    url: String(row["url"]),
    state: row["state"] as CallbackState,
    attempts: Number(row["attempts"]),
    nextAttemptAt: row["next_at"] as number | null,
    lastStatus: row["last_status"] as number | null,
    lastError: row["last_error"] as string | null,
    updatedAt: Number(row["updated_at"]),
  };
}

function toDueCallback(row: Row, longTexts: Dependencies["longTexts"]): DueCallback {
  const [stored, gaps] = [String(row["body"]), row["body_gaps"]];
  const body = lacksResult(gaps)
    ? { json: insertResult(stored, gaps, String(row["result"])), gaps: [] }
    : { json: stored, gaps: decodeGaps(gaps) };
  return {
    ...toCallback(row),
    origin: String(row["origin"]),
    ...toBody(Number(row["seq"]), body, longTexts),
    ...(row["message_id"] !== null && { messageId: String(row["message_id"]) }),
    roundAttempts: Number(row["attempts"]) - Number(row["round_start"]),
    traceparent: row["traceparent"] as string | null,
    finishedAt: Number(row["finished_at"]),
  };
}

function toBody(
  taskSeq: number,
  stored: GappedJson,
  { readGapped }: Dependencies["longTexts"],
): Pick<DueCallback, "heldLength" | "body" | "readBody"> {
  const heldLength = stored.json.length;
  if (stored.gaps.length === 0) return { heldLength, body: stored.json };
  return { heldLength, body: "", readBody: () => readGapped(taskSeq, stored) };
}
