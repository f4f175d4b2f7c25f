import type { ExecutionResult } from "#contract";
import type { Task } from "../../task.ts";
import { decodeGaps, encodeGaps } from "../gapped-json.ts";
import type { DueCallback, Finish, NewTask, Store } from "../store.ts";
import type { createApprovalOperations } from "./approval-operations.ts";
import type { createCallbackOperations } from "./callback-operations.ts";
import { claimSql } from "./claim-sql.ts";
import type { createEventOperations } from "./event-operations.ts";
import { type createLongTextOperations, HELD_WHILE_READ_BYTES } from "./long-text-operations.ts";
import { insertResumeToken } from "./resume-token-operations.ts";
import type { Row, SqliteDriver } from "./sqlite-driver.ts";
import { progressColumns, toListedTask, toTaskProgress } from "./task-rows.ts";

/** The other parts of the store that task operations use. */
interface Dependencies {
  events: ReturnType<typeof createEventOperations>;
  approvals: ReturnType<typeof createApprovalOperations>;
  callbacks: Pick<ReturnType<typeof createCallbackOperations>, "insert" | "announce">;
  longTexts: Pick<ReturnType<typeof createLongTextOperations>, "readGapped" | "parseGapped">;
  clock: () => number;
}

/** A task that an operation has ended, and its new callback. */
interface EndedTask {
  task: Task;
  callback: DueCallback | null;
}

/** The operations that change the state of a task. Each guard is part of the SQL statement. */
export function createTaskOperations(driver: SqliteDriver, { events, approvals, callbacks, longTexts, clock }: Dependencies) {
  const findRow = (tenant: string, taskId: string): Row | undefined =>
    driver.get("SELECT * FROM task WHERE tenant = ? AND id = ?", tenant, taskId);

  /** Appends the first event of a task. A second start reports that the task was restarted. */
  function appendStart(task: Task, at: number): void {
    if (task.restarts === 0) events.append(task, { type: "execution.started", data: JSON.stringify({ agentId: task.agentId }) }, at);
    else events.append(task, { type: "execution.progress", data: JSON.stringify({ restarted: true }) }, at);
  }

  function finishIf(state: "queued" | "running", task: Task, finish: Finish): EndedTask | null {
    const now = clock();
    const { json, gaps } = finish.storedResult ?? { json: JSON.stringify(finish.result), gaps: [] };
    const update = "UPDATE task SET state = ?, finished_at = ?, result = ?, result_gaps = ? WHERE seq = ? AND state = ?";
    if (driver.run(update, finish.state, now, json, encodeGaps(gaps), task.seq, state) === 0) return null;
    if (state === "queued" && task.restarts === 0) appendStart(task, now);
    approvals.rejectAll(task, finish.result.error ?? "The task has ended.", now);
    events.append(task, finish.event, now);
    const callback = finish.callback === null ? null : callbacks.insert(task, finish.callback(now), { now, resultJson: json });
    if (finish.result.resumeToken !== undefined) insertResumeToken(driver, task, finish.result.resumeToken, now);
    return { task: { ...task, state: finish.state, finishedAt: now, result: finish.result }, callback };
  }

  async function end(state: "queued" | "running", task: Task, finish: Finish, patient: boolean): Promise<Task | null> {
    const ended = await driver.write(() => finishIf(state, task, finish), { patient });
    if (ended === null) return null;
    approvals.forget(task);
    if (ended.callback !== null) callbacks.announce(ended.callback);
    return ended.task;
  }

  return {
    insertTaskIfAbsent(task, { starts } = { starts: false }) {
      const { metadata, ...request } = task.request;
      const metadataJson = metadata === undefined ? null : JSON.stringify(metadata);
      const requestJson = JSON.stringify(request);
      // A large insert ends its commit, so that a task that waits reads its request again in a later event-loop turn.
      const bytes = requestJson.length + (metadataJson?.length ?? 0);
      return driver.write(
        () => {
          const now = clock();
          const inserted = driver.get(
            `INSERT INTO task (tenant, id, parent_seq, parent_id, agent_id, provider, metadata, request, fingerprint, traceparent, resume_token, created_at, state, started_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING seq`,
            task.tenant,
            task.taskId,
            task.parent?.seq ?? null,
            task.parent?.taskId ?? null,
            task.agentId,
            task.provider,
            metadataJson,
            requestJson,
            task.fingerprint,
            task.traceparent,
            task.request.resumeToken ?? null,
            now,
            starts ? "running" : "queued",
            starts ? now : null,
          );
          if (inserted === undefined) return { task: toTask(findRow(task.tenant, task.taskId)) as Task, inserted: false };
          const queued = toQueuedTask(task, Number(inserted["seq"]), now);
          if (!starts) return { task: queued, inserted: true };
          appendStart(queued, now);
          return { task: { ...queued, state: "running", startedAt: now }, inserted: true };
        },
        { bytes },
      );
    },
    async findTask(tenant, taskId) {
      const row = findRow(tenant, taskId);
      const task = toTask(row);
      if (row === undefined || task === null || row["result_gaps"] === null) return task;
      return { ...task, result: (await longTexts.parseGapped(task.seq, storedResult(row))) as ExecutionResult };
    },
    async findStoredTask(tenant, taskId) {
      const row = findRow(tenant, taskId);
      const task = toTask(row);
      if (row === undefined || task === null) return null;
      return { task, readResult: row["result_gaps"] === null ? null : () => longTexts.readGapped(task.seq, storedResult(row)) };
    },
    async resultBytes(tenant, taskId) {
      const columns = "octet_length(result) AS bytes, result_gaps IS NOT NULL AS long";
      const row = driver.get(`SELECT ${columns} FROM task WHERE tenant = ? AND id = ?`, tenant, taskId);
      return Number(row?.["bytes"] ?? 0) + (row?.["long"] === 1 ? HELD_WHILE_READ_BYTES : 0);
    },
    async findTaskProgress(tenant, taskId) {
      const row = driver.get(`SELECT ${progressColumns} FROM task WHERE tenant = ? AND id = ?`, tenant, taskId);
      return row === undefined ? null : toTaskProgress(row);
    },
    listInterruptedTasks: async () =>
      driver
        .all(
          `SELECT * FROM task WHERE seq IN (
             SELECT seq FROM task WHERE state = 'running'
             UNION ALL SELECT seq FROM task WHERE state = 'queued' AND parent_seq IS NOT NULL)
           ORDER BY seq DESC`,
        )
        .map((row) => toTask(row) as Task),
    findQueuedTask: async (provider) => toTask(driver.get("SELECT * FROM task WHERE provider = ? AND state = 'queued' LIMIT 1", provider)),
    listUnfinishedChildren: async (parentSeq) =>
      driver
        .all("SELECT * FROM task WHERE parent_seq = ? AND state IN ('queued', 'running') ORDER BY seq", parentSeq)
        .map((row) => toTask(row) as Task),
    startNextTaskIfQueued: (filter) =>
      driver.write(
        () => {
          const now = clock();
          const { sql, parameters } = claimSql(filter);
          const task = toTask(driver.get(sql, now, ...parameters));
          if (task !== null) appendStart(task, now);
          return task;
        },
        { patient: true },
      ),
    requeueTaskIfRunning: (task) =>
      driver.write(
        () => {
          const update =
            "UPDATE task SET state = 'queued', started_at = NULL, restarts = 1 WHERE seq = ? AND state = 'running' AND restarts = 0";
          if (driver.run(update, task.seq) === 0) return false;
          approvals.rejectAll(task, "Bridge was stopped while the approval waited; the task starts again.", clock());
          return true;
        },
        { patient: true },
      ),
    finishTaskIfQueued: (task, finish, { patient } = { patient: true }) => end("queued", task, finish, patient),
    finishTaskIfRunning: (task, finish) => end("running", task, finish, true),
    async countQueuedTasks() {
      const rows = driver.all(
        `SELECT provider, tenant, agent_id, count(*) AS count FROM task WHERE state = 'queued' AND parent_seq IS NULL
         GROUP BY provider, tenant, agent_id ORDER BY min(seq)`,
      );
      return rows.map((row) => ({
        provider: String(row["provider"]),
        tenant: String(row["tenant"]),
        agentId: String(row["agent_id"]),
        count: Number(row["count"]),
      }));
    },
  } satisfies Partial<Store>;
}

/** The task that an insert has just created. */
function toQueuedTask({ parent, ...task }: NewTask, seq: number, createdAt: number): Task {
  const parentage = { parentSeq: parent?.seq ?? null, parentTaskId: parent?.taskId ?? null };
  return { ...task, ...parentage, seq, createdAt, state: "queued", restarts: 0, startedAt: null, finishedAt: null, result: null };
}

const storedResult = (row: Row) => ({ json: String(row["result"]), gaps: decodeGaps(row["result_gaps"]) });

/** Omits a long result, which callers read separately. */
function toTask(row: Row | undefined): Task | null {
  if (row === undefined) return null;
  const { metadata, ...listed } = toListedTask(row);
  return {
    ...listed,
    parentSeq: row["parent_seq"] as number | null,
    request: { ...(JSON.parse(String(row["request"])) as Task["request"]), ...(metadata !== null && { metadata }) },
    fingerprint: String(row["fingerprint"]),
    traceparent: row["traceparent"] as string | null,
    restarts: Number(row["restarts"]),
    result: row["result"] === null || row["result_gaps"] !== null ? null : (JSON.parse(String(row["result"])) as ExecutionResult),
  };
}
