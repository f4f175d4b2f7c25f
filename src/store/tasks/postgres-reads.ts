import type { ExecutionResult } from "#contract";
import type { StopRequest, TaskIdentity } from "../../task.ts";
import { budgetNeeds } from "../budgets/postgres-reservations.ts";
import { toColumnText } from "../column-text.ts";
import { tagsOfNode } from "../engines/postgres/batch-transaction.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/statements.ts";
import { isExecution } from "../events/rows.ts";
import { callbackColumns } from "../posts/callback-rows.ts";
import { repositoryColumns } from "../repositories/rows.ts";
import type { TaskStore } from "./interface.ts";
import { HELD_WHILE_READ_BYTES, type LongTexts } from "./long-texts.ts";
import {
  isSessionInUse,
  taskColumns,
  timedColumns,
  toChildSpent,
  toQueuedCount,
  toStopRequest,
  toStoredResult,
  toTask,
  toTaskIdentity,
  toTaskProgress,
  toTaskSummary,
} from "./rows.ts";
import { toTaskStatus } from "./status-rows.ts";

/** The other parts of the store that the reads of tasks use. */
interface Dependencies extends Pick<LongTexts, "readGapped" | "parseGapped"> {
  /** The id of this node. */
  node: string;
}

/** Reads tasks and their results. */
export function createTaskReads(reader: Reader, { node, readGapped, parseGapped }: Dependencies) {
  const findRow = (tenant: string, taskId: string) => reader.get(selectTask, tenant, taskId);

  return {
    async findTask(tenant, taskId) {
      const row = await findRow(tenant, taskId);
      if (row === undefined) return null;
      const task = toTask(row);
      if (row["result_gaps"] === null) return task;
      return { ...task, result: (await parseGapped(task.seq, toStoredResult(row))) as ExecutionResult };
    },
    async findStoredTask(tenant, taskId) {
      const row = await findRow(tenant, taskId);
      if (row === undefined) return null;
      const task = toTask(row);
      return {
        task,
        summary: toTaskSummary(row, task.request.labels ?? {}),
        readResult: row["result_gaps"] === null ? null : () => readGapped(task.seq, toStoredResult(row)),
      };
    },
    async resultBytes(tenant, taskId) {
      const row = await reader.get(selectResultBytes, tenant, taskId);
      return Number(row?.["bytes"] ?? 0) + (row?.["is_long"] === true ? HELD_WHILE_READ_BYTES : 0);
    },
    async findTaskProgress(tenant, taskId) {
      const row = await reader.get(selectProgress, tenant, taskId);
      return row === undefined ? null : toTaskProgress(row);
    },
    async listInterruptedTasks(deadNode?: string) {
      const rows = deadNode === undefined ? await reader.all(selectInterrupted, node) : await reader.all(selectLost, deadNode);
      return rows.map((row) => ({ task: toTask(row), stop: toStopRequest(row) }));
    },
    async findQueuedTask(provider) {
      const row = await reader.get(selectQueued, provider);
      return row === undefined ? null : toTask(row);
    },
    async listUnfinishedChildren(parentSeq) {
      const children = (await reader.all(selectUnfinishedChildren, parentSeq)).map(toTask);
      return children.toSorted((a, b) => a.seq - b.seq);
    },
    listChildrenSpent: async (parentSeq) => (await reader.all(selectChildrenSpent, parentSeq)).map(toChildSpent),
    countQueuedTasks: async () => (await reader.all(countQueued, node)).map(toQueuedCount),
  } satisfies Partial<TaskStore>;
}

const byId = "FROM task WHERE tenant = $1 AND id = $2";

const selectTask = toStatement(`SELECT ${taskColumns} ${byId}`);

const selectProgress = toStatement(`SELECT ${timedColumns} ${byId}`);

const selectResultBytes = toStatement(`SELECT octet_length(result) AS bytes, result_gaps IS NOT NULL AS is_long ${byId}`);

/** Queued children are first. If the end of the others is interrupted, the running tasks that remain show that there is work left. */
const interruptedOf = (condition: string): string =>
  `SELECT ${taskColumns}, stop_code AS code, stop_reason AS reason FROM task
   WHERE state = 'queued' AND coalesce(node, '') = $1 AND CASE WHEN parent_seq IS NULL THEN 'dispatched' ELSE 'child' END = 'child' ${condition}
   UNION ALL SELECT ${taskColumns}, stop_code, stop_reason FROM task WHERE state = 'running' AND node = $1 ${condition}
   ORDER BY state, seq DESC`;

const selectInterrupted = toStatement(interruptedOf(""));

/** A node that is gone starts no task, so these tasks are those of its dead process, even if a new one joins at the same time. */
const selectLost = toStatement(interruptedOf("AND EXISTS (SELECT 1 FROM node n WHERE n.id = $1 AND n.state = 'gone')"));

const selectQueued = toStatement(`SELECT ${taskColumns} FROM task WHERE provider = $1 AND state = 'queued' LIMIT 1`);

/** Not sorted by the statement, because then it would read all tasks in the order of their numbers. */
const selectUnfinishedChildren = toStatement(`SELECT ${taskColumns} FROM task WHERE parent_seq = $1 AND state IN ('queued', 'running')`);

const selectChildrenSpent = toStatement("SELECT state, cost_usd, cost_source, usage FROM task WHERE parent_seq = $1");

const countQueued = toStatement(
  `SELECT provider, tenant, agent_id, (t.parent_seq IS NOT NULL) AS is_child, count(*) AS queued,
     count(*) FILTER (WHERE (t.node IS NULL OR t.node = $1) AND t.needs <@ own.tags) AS startable
   FROM task t LEFT JOIN (SELECT ${tagsOfNode} AS tags FROM node WHERE id = $1) AS own ON true
   WHERE t.state = 'queued' AND (t.parent_seq IS NULL OR t.node = $1) GROUP BY 1, 2, 3, 4 ORDER BY min(t.seq)`,
);

const selectNextStart = toStatement("SELECT min(t.start_after) AS at FROM task t WHERE t.state = 'queued' AND t.start_after > $1::bigint");

/** Reads what tasks wait for and how far they are. */
export function createTaskStatusReads(reader: Reader) {
  return {
    async readTaskStatuses(taskSeqs) {
      if (taskSeqs.length === 0) return new Map();
      const rows = await reader.all(selectStatuses, [...taskSeqs]);
      return new Map(rows.map((row) => [Number(row["seq"]), toTaskStatus(row, row["needs"] as unknown as string[])]));
    },
    async findNextStart(now) {
      const at = (await reader.get(selectNextStart, now))?.["at"] ?? null;
      return at === null ? null : Number(at);
    },
  } satisfies Partial<TaskStore>;
}

const selectStatuses = toStatement(
  `SELECT ${callbackColumns}, t.state AS task_state, t.created_at, t.callback_url, t.node, t.needs, newest.at AS last_progress_at,
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - greatest(newest.at, t.started_at) AS silent_ms,
     EXISTS (SELECT 1 FROM approval a WHERE a.task = t.seq AND a.state = 'pending') AS is_approval_pending,
     (SELECT count(*) FROM task child WHERE child.parent_seq = t.seq) AS child_count,
     q.seq IS NOT NULL AND ${isSessionInUse} AS is_session_in_use,
     coalesce(q.start_after > floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, false) AS is_postponed,
     CASE WHEN t.state = 'queued' AND t.budgets IS NOT NULL THEN ${budgetNeeds} END AS budgets, ${repositoryColumns("tr")}
   FROM unnest($1::bigint[]) AS given (seq) JOIN task t ON t.seq = given.seq
   LEFT JOIN task_repository tr ON tr.tenant = t.tenant AND tr.task_id = t.id
   LEFT JOIN callback c ON c.task = t.seq LEFT JOIN task q ON q.seq = t.seq AND q.state = 'queued'
   LEFT JOIN LATERAL (SELECT e.at FROM event e WHERE e.task = t.seq AND ${isExecution} ORDER BY e.number DESC LIMIT 1) AS newest ON true`,
);

/** Reads the resume tokens that tasks have returned. */
export function createResumeTokenReads(reader: Reader) {
  return {
    isResumeTokenKnown: async ({ tenant, provider, agentId, token }) =>
      (await reader.get(selectToken, tenant, provider, agentId, toColumnText(token))) !== undefined,
  } satisfies Partial<TaskStore>;
}

const selectToken = toStatement("SELECT 1 AS known FROM resume_token WHERE tenant = $1 AND provider = $2 AND agent_id = $3 AND token = $4");

/** Passes the stop requests of running tasks to the listener. */
export async function readStopRequests(reader: Reader, announce: (task: TaskIdentity, stop: StopRequest) => void): Promise<void> {
  for (const row of await reader.all(selectStopRequests)) {
    const stop = toStopRequest(row);
    if (stop !== null) announce(toTaskIdentity(row), stop);
  }
}

const selectStopRequests = toStatement(
  `SELECT seq, tenant, id, parent_id, agent_id, provider, stop_code AS code, stop_reason AS reason
   FROM task WHERE state = 'running' AND stop_code IS NOT NULL`,
);
