import type { ExecutionResult } from "#contract";
import { toColumnText } from "../column-text.ts";
import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import { isExecution } from "../events/rows.ts";
import { callbackColumns } from "../posts/callback-rows.ts";
import { repositoryColumns } from "../repositories/rows.ts";
import type { TaskStore } from "./interface.ts";
import { HELD_WHILE_READ_BYTES, type LongTexts } from "./long-texts.ts";
import {
  isSessionInUse,
  progressColumns,
  summaryColumns,
  toChildSpent,
  toQueuedCount,
  toStopRequest,
  toStoredResult,
  toTask,
  toTaskProgress,
  toTaskSummary,
} from "./rows.ts";
import { toTaskStatus } from "./status-rows.ts";

/** Reads tasks. */
export function createTaskReads(driver: SqliteDriver, longTexts: Pick<LongTexts, "readGapped" | "parseGapped">, clock: () => number) {
  const findRow = (tenant: string, taskId: string): Row | undefined =>
    driver.get("SELECT * FROM task WHERE tenant = ? AND id = ?", tenant, taskId);

  return {
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
    async findQueuedTask(provider) {
      const row = driver.get("SELECT * FROM task WHERE provider = ? AND state = 'queued' LIMIT 1", provider);
      return row === undefined ? null : toTask(row);
    },
    listUnfinishedChildren: async (parentSeq) =>
      driver.all("SELECT * FROM task WHERE parent_seq = ? AND state IN ('queued', 'running') ORDER BY seq", parentSeq).map(toTask),
    listChildrenSpent: async (parentSeq) =>
      driver
        .all(
          "SELECT state, s.cost_usd, s.cost_source, s.usage FROM task JOIN task_summary s ON s.task = seq WHERE parent_seq = ?",
          parentSeq,
        )
        .map(toChildSpent),
    async countQueuedTasks() {
      const rows = driver.all(
        `SELECT provider, tenant, agent_id, count(*) AS queued, count(*) AS startable FROM task WHERE state = 'queued' AND parent_seq IS NULL
         GROUP BY provider, tenant, agent_id ORDER BY min(seq)`,
      );
      return rows.map(toQueuedCount);
    },
    async readTaskStatuses(taskSeqs) {
      const now = clock();
      const rows = taskSeqs.map((seq) => driver.get(selectStatus, now, now, seq)).filter((row): row is Row => row !== undefined);
      return new Map(rows.map((row) => [Number(row["seq"]), toTaskStatus(row, [])]));
    },
    isResumeTokenKnown: async ({ tenant, provider, agentId, token }) =>
      driver.get(
        "SELECT 1 AS known FROM resume_token WHERE tenant = ? AND provider = ? AND agent_id = ? AND token = ?",
        tenant,
        provider,
        agentId,
        toColumnText(token),
      ) !== undefined,
  } satisfies Partial<TaskStore>;
}

const selectStatus = `SELECT ${callbackColumns}, q.state AS task_state, q.created_at, s.callback_url, newest.at AS last_progress_at,
    ? - max(coalesce(newest.at, q.started_at), q.started_at) AS silent_ms,
    EXISTS (SELECT 1 FROM approval a WHERE a.task = q.seq AND a.state = 'pending') AS is_approval_pending,
    (SELECT count(*) FROM task child WHERE child.parent_seq = q.seq) AS child_count,
    q.state = 'queued' AND ${isSessionInUse} AS is_session_in_use,
    EXISTS (SELECT 1 FROM task_wait w WHERE w.task = q.seq AND w.start_after > ?) AS is_postponed,
    (SELECT json_group_array(json_array(b.name, max(1, b.ask_micros - b.settled_micros), max(1, b.ask_tokens - b.settled_tokens)))
      FROM task_budget b WHERE b.task = q.seq) AS budgets, ${repositoryColumns("tr")}
  FROM task q JOIN task t ON t.seq = q.seq LEFT JOIN callback c ON c.task = q.seq LEFT JOIN task_summary s ON s.task = q.seq
  LEFT JOIN task_repository tr ON tr.tenant = q.tenant AND tr.task_id = q.id
  LEFT JOIN event newest ON newest.number = (
    SELECT number FROM event WHERE task = q.seq AND ${isExecution} ORDER BY number DESC LIMIT 1)
  WHERE q.seq = ?`;
