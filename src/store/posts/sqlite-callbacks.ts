import type { Task } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import type { createEventOperations } from "../events/sqlite.ts";
import {
  callbackColumns,
  callbackDetailColumns,
  dueCallbackColumns,
  encodeAttempt,
  extendHistory,
  oldestPending,
  pendingOfQueue,
  pendingQueues,
  type ReadGapped,
  toCallback,
  toCallbackDetails,
  toDueCallback,
  toNewDueCallback,
  toStoredBody,
} from "./callback-rows.ts";
import {
  type Callback,
  type CallbackSettlement,
  type CallbackStore,
  callbackStates,
  type DueCallback,
  type NewCallback,
} from "./interface.ts";
import { type CallbackSchedule, createCallbackSchedule } from "./sqlite-schedule.ts";

/** The other parts of the store that callback operations use. */
interface Dependencies {
  events: ReturnType<typeof createEventOperations>;
  longTexts: { readGapped: ReadGapped };
  clock: () => number;
}

/** When a task ended, and its result as it is stored. */
interface TaskEnd {
  now: number;
  resultJson: string;
}

/** The operations of the callback outbox. */
export function createCallbackOperations(driver: SqliteDriver, { events, longTexts, clock }: Dependencies) {
  const schedule = createCallbackSchedule(driver, clock);
  let announce: (callback: DueCallback) => void = () => {};

  const operations = {
    onCallback(listener) {
      announce = listener;
    },
    ...createCallbackReads(driver, { longTexts, clock, schedule }),
    settleCallbackIfPending: ({ task, attempts: attemptsBefore }, settlement) =>
      driver.write(
        () => {
          const now = schedule.track(clock());
          const row = settleRow(driver, { task, attempts: attemptsBefore }, settlement, now);
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
        const now = schedule.track(clock());
        const changed = driver.run(
          "UPDATE callback SET state = 'pending', round_start = attempts, next_at = ?, updated_at = ? WHERE task = ? AND state = 'dead'",
          now,
          now,
          taskSeq,
        );
        return changed === 1 ? find(driver, taskSeq) : null;
      }),
  } satisfies Partial<CallbackStore>;

  return {
    insert(task: Task, callback: NewCallback, end: TaskEnd): DueCallback {
      schedule.track(end.now);
      return insertCallback({ driver, longTexts }, task, callback, end);
    },
    announce: (callback: DueCallback) => announce(callback),
    correctSchedule: schedule.correct,
    operations,
  };
}

function createCallbackReads(
  driver: SqliteDriver,
  { longTexts, clock, schedule }: Pick<Dependencies, "longTexts" | "clock"> & { schedule: CallbackSchedule },
) {
  return {
    findCallback: async (taskSeq) => find(driver, taskSeq),
    async findCallbackDetails(taskSeq) {
      const row = driver.get(`SELECT ${callbackDetailColumns} ${fromCallbacks} WHERE c.task = ?`, taskSeq);
      return row === undefined ? null : toCallbackDetails(row);
    },
    async listCallbacks(tenant, state, page) {
      const before = page.before ?? Number.MAX_SAFE_INTEGER;
      const select = `SELECT ${callbackColumns} ${fromCallbacks} WHERE c.tenant = ? AND c.state = ? AND c.task < ? ORDER BY c.task DESC LIMIT ?`;
      // One index serves lists with and without a state: the newest callbacks are among the newest ones of each state.
      const states = state === undefined ? callbackStates : [state];
      const rows = states.flatMap((one) => driver.all(select, tenant, one, before, page.limit));
      rows.sort((a, b) => Number(b["seq"]) - Number(a["seq"]));
      return rows.slice(0, page.limit).map(toCallback);
    },
    async listDueCallbackQueues() {
      const rows = driver.all(
        `${pendingQueues} SELECT origin, tenant FROM queue WHERE (SELECT min(next_at) ${pendingOfQueue}) <= ?`,
        clock(),
      );
      return rows.map((row) => ({ tenant: String(row["tenant"]), receiver: String(row["origin"]) }));
    },
    /** Loads only the rows that are returned, because a body can be long. */
    async listDueCallbacks({ tenant, receiver }, limit, inProgress = new Set()) {
      const now = await schedule.correct();
      const due = driver.all(
        `SELECT task FROM callback c WHERE state = 'pending' AND origin = ? AND tenant = ? AND next_at <= ?
           AND NOT EXISTS (SELECT 1 FROM callback_dedup d WHERE d.task = c.task) ORDER BY next_at, task LIMIT ?`,
        receiver,
        tenant,
        now,
        limit + inProgress.size,
      );
      const next = due.map((row) => Number(row["task"])).filter((seq) => !inProgress.has(seq));
      return next
        .slice(0, limit)
        .map((seq) =>
          toDueCallback(driver.get(`SELECT ${dueCallbackColumns} ${fromCallbacks} WHERE c.task = ?`, seq) as Row, longTexts.readGapped),
        );
    },
    async nextCallbackInMs() {
      const now = await schedule.correct();
      const next = driver.get(
        `${pendingQueues} SELECT min((SELECT min(next_at) ${pendingOfQueue} AND c.next_at > ?)) AS at FROM queue`,
        now,
      )?.["at"];
      return typeof next === "number" ? next - now : null;
    },
    async oldestCallbackMs() {
      const endedAt = driver.get(oldestPending)?.["at"];
      return typeof endedAt === "number" ? Math.max(0, clock() - endedAt) : null;
    },
  } satisfies Partial<CallbackStore>;
}

function find(driver: SqliteDriver, taskSeq: number): Callback | null {
  const row = driver.get(`SELECT ${callbackColumns} ${fromCallbacks} WHERE c.task = ?`, taskSeq);
  return row === undefined ? null : toCallback(row);
}

/** Stores a callback inside the operation that ends its task. Call `announce` with the result after the commit. */
function insertCallback(
  { driver, longTexts }: { driver: SqliteDriver; longTexts: Dependencies["longTexts"] },
  task: Task,
  callback: NewCallback,
  { now, resultJson }: TaskEnd,
): DueCallback {
  const stored = toStoredBody(callback, resultJson);
  driver.run(
    `INSERT INTO callback (task, tenant, url, origin, body, body_gaps, message_id, state, next_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    task.seq,
    task.tenant,
    callback.url,
    callback.origin,
    stored.body,
    stored.gaps,
    callback.messageId ?? null,
    now,
    now,
  );
  return toNewDueCallback(task, callback, { finishedAt: now, readGapped: longTexts.readGapped });
}

/** Counts the attempt and settles the row, if it is pending after so many attempts. Returns the new number of attempts as a row. */
function settleRow(
  driver: SqliteDriver,
  { task, attempts }: Pick<DueCallback, "task" | "attempts">,
  settlement: CallbackSettlement,
  now: number,
): Row | undefined {
  const line = encodeAttempt(attempts, settlement, now);
  return driver.get(
    settleSql,
    settlement.state,
    settlement.nextInMs === null ? null : now + settlement.nextInMs,
    settlement.lastStatus,
    settlement.lastError === null ? null : toColumnText(settlement.lastError),
    now,
    line,
    line,
    settlement.state,
    task.seq,
    attempts,
  );
}

const fromCallbacks = "FROM callback c CROSS JOIN task t ON t.seq = c.task";

/** A constant, because the driver finds the compiled statement by its text. */
const settleSql = `UPDATE callback SET state = ?, attempts = attempts + 1, next_at = ?, last_status = ?, last_error = ?, updated_at = ?,
   history = ${extendHistory({ history: "history", line: "?", position: "instr" })},
   body = CASE WHEN ? = 'delivered' THEN NULL ELSE body END
 WHERE task = ? AND state = 'pending' AND attempts = ? RETURNING attempts`;
