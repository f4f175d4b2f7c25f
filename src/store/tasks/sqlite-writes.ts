import type { ExecutionResult } from "#contract";
import type { Task } from "../../task.ts";
import type { createApprovalOperations } from "../approvals/sqlite.ts";
import { toColumnText } from "../column-text.ts";
import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import type { createEventOperations } from "../events/sqlite.ts";
import type { DueCallback } from "../posts/interface.ts";
import type { createCallbackOperations } from "../posts/sqlite-callbacks.ts";
import type { createUsageOperations } from "../usage/sqlite.ts";
import { encodeGaps } from "./gapped-json.ts";
import type { Finish, TaskStore } from "./interface.ts";
import { HELD_WHILE_READ_BYTES, type LongTexts } from "./long-texts.ts";
import {
  progressColumns,
  REQUEUE_REASON,
  toInsertedTask,
  toQueuedCount,
  toRequestColumns,
  toStartEvent,
  toStopRequest,
  toStoredResult,
  toTask,
  toTaskProgress,
} from "./rows.ts";
import { claimSql } from "./sqlite-claim.ts";
import { insertResumeToken } from "./sqlite-resume-tokens.ts";
import { summaryColumns, toEndedSummary, toLabelRows, toNewSummary, toTaskSummary } from "./summary.ts";

/** The other parts of the store that task operations use. */
interface Dependencies {
  events: ReturnType<typeof createEventOperations>;
  approvals: ReturnType<typeof createApprovalOperations>;
  callbacks: Pick<ReturnType<typeof createCallbackOperations>, "insert" | "announce">;
  longTexts: Pick<LongTexts, "readGapped" | "parseGapped">;
  usage: Pick<ReturnType<typeof createUsageOperations>, "add">;
  clock: () => number;
}

/** A task that an operation has ended, and its new callback. */
interface EndedTask {
  task: Task;
  callback: DueCallback | null;
}

/** The operations that change the state of a task. Each guard is part of the SQL statement. */
export function createTaskOperations(driver: SqliteDriver, { events, approvals, callbacks, longTexts, usage, clock }: Dependencies) {
  const findRow = (tenant: string, taskId: string): Row | undefined =>
    driver.get("SELECT * FROM task WHERE tenant = ? AND id = ?", tenant, taskId);
  const toTaskOrNull = (row: Row | undefined): Task | null => (row === undefined ? null : toTask(row));

  const appendStart = (task: Task, at: number): void => events.append(task, toStartEvent(task), at);

  function keepSummary(seq: number, result: ExecutionResult): void {
    const { model, cost_usd, usage: tokens, error_code } = toEndedSummary(result);
    driver.run(
      `INSERT INTO task_summary (task, model, cost_usd, usage, error_code) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (task) DO UPDATE SET model = coalesce(excluded.model, model), cost_usd = excluded.cost_usd, usage = excluded.usage,
         error_code = excluded.error_code`,
      ...[seq, model, cost_usd, tokens, error_code],
    );
  }

  function finishIf(state: "queued" | "running", task: Task, finish: Finish): EndedTask | null {
    const now = clock();
    const { json, gaps } = finish.storedResult ?? { json: JSON.stringify(finish.result), gaps: [] };
    const update = "UPDATE task SET state = ?, finished_at = ?, result = ?, result_gaps = ? WHERE seq = ? AND state = ? AND restarts = ?";
    if (driver.run(update, finish.state, now, json, encodeGaps(gaps), task.seq, state, task.restarts) === 0) return null;
    keepSummary(task.seq, finish.result);
    if (state === "queued" && task.restarts === 0) appendStart(task, now);
    approvals.rejectAll(task, finish.result.error ?? "The task has ended.", now);
    events.append(task, finish.event, now);
    const callback = finish.callback === null ? null : callbacks.insert(task, finish.callback(now), { now, resultJson: json });
    if (finish.result.resumeToken !== undefined) insertResumeToken(driver, task, finish.result.resumeToken, now);
    usage.add({ task, from: state, finish, now });
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
      const { request, metadata } = toRequestColumns(task);
      // A large insert ends its commit, so that a task that waits reads its request again in a later event-loop turn.
      const bytes = request.length + (metadata?.length ?? 0);
      return driver.write(
        () => {
          // Not left to ON CONFLICT, because an ignored insert also takes a number, which is a write.
          const known = findRow(task.tenant, task.taskId);
          if (known !== undefined) return { task: toTask(known), inserted: false };
          const now = clock();
          const inserted = driver.get(
            `INSERT INTO task (tenant, id, parent_seq, parent_id, agent_id, provider, metadata, request, fingerprint, traceparent, tracestate, resume_token, created_at, state, started_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
            task.tenant,
            task.taskId,
            task.parent?.seq ?? null,
            task.parent?.taskId ?? null,
            task.agentId,
            task.provider,
            metadata,
            request,
            task.fingerprint,
            task.traceparent,
            task.tracestate,
            task.request.resumeToken === undefined ? null : toColumnText(task.request.resumeToken),
            now,
            starts ? "running" : "queued",
            starts ? now : null,
          );
          const { title, model, callback_url } = toNewSummary(task);
          driver.run(
            "INSERT INTO task_summary (task, title, model, callback_url) VALUES (?, ?, ?, ?)",
            inserted?.["seq"] ?? null,
            title,
            model,
            callback_url,
          );
          for (const { name, value } of toLabelRows(task, Number(inserted?.["seq"])))
            driver.run(
              "INSERT INTO task_label (task, tenant, name, value) VALUES (?, ?, ?, ?)",
              inserted?.["seq"] ?? null,
              task.tenant,
              name,
              value,
            );
          const start = starts ? ({ state: "running", startedAt: now } as const) : ({ state: "queued", startedAt: null } as const);
          const stored = toInsertedTask(task, { seq: Number(inserted?.["seq"]), node: null, createdAt: now, ...start });
          if (starts) appendStart(stored, now);
          return { task: stored, inserted: true };
        },
        { bytes },
      );
    },
    async findTask(tenant, taskId) {
      const row = findRow(tenant, taskId);
      if (row === undefined) return null;
      const task = toTask(row);
      if (row["result_gaps"] === null) return task;
      return { ...task, result: (await longTexts.parseGapped(task.seq, toStoredResult(row))) as ExecutionResult };
    },
    async findStoredTask(tenant, taskId) {
      const row = findRow(tenant, taskId);
      if (row === undefined) return null;
      const task = toTask(row);
      const summary = toTaskSummary(
        driver.get(`SELECT ${summaryColumns} FROM task_summary WHERE task = ?`, task.seq) ?? {},
        task.request.labels ?? {},
      );
      return { task, summary, readResult: row["result_gaps"] === null ? null : () => longTexts.readGapped(task.seq, toStoredResult(row)) };
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
          `SELECT t.*, r.code, r.reason FROM task t LEFT JOIN stop_request r ON r.task = t.seq WHERE t.seq IN (
             SELECT seq FROM task WHERE state = 'running'
             UNION ALL SELECT seq FROM task WHERE state = 'queued' AND parent_seq IS NOT NULL)
           ORDER BY t.seq DESC`,
        )
        .map((row) => ({ task: toTask(row), stop: toStopRequest(row) })),
    findQueuedTask: async (provider) =>
      toTaskOrNull(driver.get("SELECT * FROM task WHERE provider = ? AND state = 'queued' LIMIT 1", provider)),
    listUnfinishedChildren: async (parentSeq) =>
      driver.all("SELECT * FROM task WHERE parent_seq = ? AND state IN ('queued', 'running') ORDER BY seq", parentSeq).map(toTask),
    startNextTaskIfQueued: (filter) =>
      driver.write(
        () => {
          const now = clock();
          const { sql, parameters } = claimSql(filter);
          const task = toTaskOrNull(driver.get(sql, now, ...parameters));
          if (task !== null) appendStart(task, now);
          return task;
        },
        { patient: true },
      ),
    async requeueTaskIfRunning(task) {
      const isRequeued = await driver.write(
        () => {
          const update = `UPDATE task SET state = 'queued', started_at = NULL, restarts = 1
            WHERE seq = ? AND state = 'running' AND restarts = 0 AND NOT EXISTS (SELECT 1 FROM stop_request r WHERE r.task = seq)`;
          if (driver.run(update, task.seq) === 0) return false;
          approvals.rejectAll(task, REQUEUE_REASON, clock());
          return true;
        },
        { patient: true },
      );
      if (isRequeued) events.toolCalls.forget(task);
      return isRequeued;
    },
    finishTaskIfQueued: (task, finish, { patient } = { patient: true }) => end("queued", task, finish, patient),
    finishTaskIfRunning: (task, finish) => end("running", task, finish, true),
    async countQueuedTasks() {
      const rows = driver.all(
        `SELECT provider, tenant, agent_id, count(*) AS queued, count(*) AS startable FROM task WHERE state = 'queued' AND parent_seq IS NULL
         GROUP BY provider, tenant, agent_id ORDER BY min(seq)`,
      );
      return rows.map(toQueuedCount);
    },
  } satisfies Partial<TaskStore>;
}
