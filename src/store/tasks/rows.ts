import { type ExecutionResult, parseExactJson, stringifyWellFormed } from "#contract";
import type { ListedTask, Spent, StopCode, StopRequest, Task, TaskIdentity, TaskProgress, TaskState, TaskSummary } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { NewEvent } from "../events/interface.ts";
import { decodeGaps, type GappedJson } from "./gapped-json.ts";
import type { ChildSpent, NewTask, QueuedCount } from "./interface.ts";

/** A row as any engine returns it. Integers are numbers. */
export type StoredRow = Readonly<Record<string, unknown>>;

/** The columns of `toTaskProgress`. */
export const progressColumns = "seq, tenant, id, parent_id, agent_id, provider, state, created_at, started_at, finished_at";

/** The identity columns of a task row, as every join selects them. */
export const toTaskIdentity = (row: StoredRow): TaskIdentity => ({
  seq: Number(row["seq"]),
  tenant: String(row["tenant"]),
  taskId: String(row["id"]),
  parentTaskId: row["parent_id"] as string | null,
  agentId: String(row["agent_id"]),
  provider: String(row["provider"]),
});

/** A task row without the columns that may be long. */
export const toTaskProgress = (row: StoredRow): TaskProgress => ({
  ...toTaskIdentity(row),
  state: row["state"] as TaskState,
  // SQLite has no such column.
  node: (row["node"] ?? null) as string | null,
  createdAt: Number(row["created_at"]),
  startedAt: row["started_at"] as number | null,
  finishedAt: row["finished_at"] as number | null,
  ...(typeof row["ran_from"] === "number" && { ran: { from: row["ran_from"], to: row["ran_to"] as number | null } }),
});

/** A task row as lists return it. */
export const toListedTask = (row: StoredRow): ListedTask => ({
  ...toTaskProgress(row),
  summary: toTaskSummary(row),
  metadata: toMetadata(row),
});

const toMetadata = ({ metadata }: StoredRow): Record<string, unknown> | null =>
  metadata === null ? null : (JSON.parse(String(metadata)) as Record<string, unknown>);

/** A whole row of `task`, without a long result, which callers read separately. */
export function toTask(row: StoredRow): Task {
  const metadata = toMetadata(row);
  const isResultShort = row["result"] !== null && row["result_gaps"] === null;
  return {
    ...toTaskProgress(row),
    parentSeq: row["parent_seq"] as number | null,
    request: { ...(JSON.parse(String(row["request"])) as Task["request"]), ...(metadata !== null && { metadata }) },
    fingerprint: String(row["fingerprint"]),
    traceparent: row["traceparent"] as string | null,
    tracestate: row["tracestate"] as string | null,
    restarts: Number(row["restarts"]),
    // SQLite has no such column.
    ...(typeof row["budgets"] === "string" && { budgets: row["budgets"].split(",") }),
    result: isResultShort ? (parseExactJson(String(row["result"])) as ExecutionResult) : null,
  };
}

/** The result in a row of `task`, with the gaps of its long texts. */
export const toStoredResult = (row: StoredRow): GappedJson => ({ json: String(row["result"]), gaps: decodeGaps(row["result_gaps"]) });

/** The columns of a new task that contain its request, as JSON. */
export function toRequestColumns({ request: { metadata, ...request } }: Pick<NewTask, "request">): {
  request: string;
  metadata: string | null;
} {
  return { request: stringifyWellFormed(request), metadata: metadata === undefined ? null : stringifyWellFormed(metadata) };
}

/** The task that an insert has just created. */
export function toInsertedTask(
  { parent, needs: _, asks, ...task }: NewTask,
  stored: Pick<Task, "seq" | "node" | "createdAt" | "startedAt"> & { state: "queued" | "running" },
): Task {
  const parentage = { parentSeq: parent?.seq ?? null, parentTaskId: parent?.taskId ?? null };
  const budgets = asks !== undefined && { budgets: asks.map(({ name }) => name) };
  return { ...task, ...budgets, ...parentage, ...stored, restarts: 0, finishedAt: null, result: null };
}

/** The names of the budgets of a new task as the column of PostgreSQL contains them. No name contains a comma. */
export const encodeBudgets = (asks: NewTask["asks"] = []): string | null =>
  asks.length === 0 ? null : asks.map(({ name }) => name).join(",");

/** The event that a start appends. A second start reports that the task was restarted. */
export const toStartEvent = (task: Task): NewEvent =>
  task.restarts === 0
    ? { type: "execution.started", data: JSON.stringify({ agentId: task.agentId }) }
    : { type: "execution.progress", data: JSON.stringify({ restarted: true }) };

/** Whether a running task uses the resume token of the queued task `q`. */
export const isSessionInUse = `EXISTS (SELECT 1 FROM task r WHERE r.state = 'running' AND r.resume_token = q.resume_token AND r.tenant = q.tenant
  AND r.provider = q.provider AND r.agent_id = q.agent_id)`;

/** The stop request in the columns `code` and `reason`; null if they are null. */
export const toStopRequest = ({ code, reason }: StoredRow): StopRequest | null =>
  code === null ? null : { code: code as StopCode, reason: String(reason) };

/** A row of the counts of queued tasks. */
export const toQueuedCount = (row: StoredRow): QueuedCount => ({
  provider: String(row["provider"]),
  tenant: String(row["tenant"]),
  agentId: String(row["agent_id"]),
  queued: Number(row["queued"]),
  startable: Number(row["startable"]),
  isChild: row["is_child"] === true,
});

/** The reason of the approvals that a requeue rejects. */
export const REQUEUE_REASON = "Bridge was stopped while the approval waited; the task starts again.";

/** Maximum characters of a title. */
const MAX_TITLE = 120;

/** UTF-16 units of a message in which its first line is searched. */
const SEARCHED_UNITS = 4 * MAX_TITLE;

/** The columns of `toTaskSummary`. */
export const summaryColumns = "title, model, cost_usd, cost_source, usage, error_code, attempts";

/** The columns of `toTaskProgress`, which include the node. */
const nodeProgressColumns = `${progressColumns}, node`;

/** The columns of `toTaskProgress` with the times by the clock of the node, which is the clock of its files. */
export const timedColumns = `${nodeProgressColumns}, ran_from, ran_to`;

/** The columns of `toListedTask`, which include the node. */
export const listedColumns = `${nodeProgressColumns}, metadata, ${summaryColumns}`;

/** The columns of `toTask`. A statement names its columns: after a migration adds one, a prepared `SELECT *` fails. */
export const taskColumns = `${listedColumns}, budgets, parent_seq, request, fingerprint, traceparent, tracestate, restarts, result, result_gaps`;

/** The columns of the table of labels. */
export const labelColumns = ["task", "tenant", "name", "value"] as const;

/** The rows of the labels of a new task. */
export const toLabelRows = ({ tenant, request: { labels = {} } }: Pick<NewTask, "tenant" | "request">, task: number) =>
  Object.entries(labels).map(([name, value]) => ({ task, tenant, name, value }));

/** Returns the title of a task: the first line of its message that is not blank, shortened; null if there is none. */
export function titleOf(message: string): string | null {
  const [line = ""] = /\S[^\r\n]*/.exec(message.slice(0, SEARCHED_UNITS)) ?? [];
  const title = line.trimEnd();
  // No text has more characters than UTF-16 units.
  if (title.length <= MAX_TITLE) return title === "" ? null : title;
  return countUnits(title, MAX_TITLE) >= title.length ? title : `${title.slice(0, countUnits(title, MAX_TITLE - 1))}…`;
}

/** Counts the UTF-16 units of the first characters. Splitting the text takes four times as long. */
function countUnits(text: string, characters: number): number {
  let units = 0;
  for (let count = 0; count < characters && units < text.length; count += 1) units += (text.codePointAt(units) as number) > 0xffff ? 2 : 1;
  return units;
}

/** The columns of the summary of a new task. */
export function toNewSummary({ request: { message, bridgeInput, model, callbackUrl } }: Pick<NewTask, "request">) {
  const toText = (text: string | null | undefined): string | null => (typeof text === "string" ? toColumnText(text) : null);
  return {
    title: toText(titleOf(message) ?? titleOf(describeInput(bridgeInput))),
    model: toText(model),
    callback_url: toText(callbackUrl),
  };
}

/** Returns what the input of a council asks for. */
const describeInput = (bridgeInput: Readonly<Record<string, unknown>> | undefined): string => {
  const description = bridgeInput?.["task_description"];
  return typeof description === "string" ? description : "";
};

/** The columns of the summary that the end of a task sets. A null `model` keeps the requested model. */
export const toEndedSummary = ({ model, costUsd, costSource, usage, errorCode, attempts }: ExecutionResult) => ({
  model: model === undefined ? null : toColumnText(model),
  ...toSpentSummary({ costUsd: costUsd ?? null, costSource: costSource ?? null, usage: usage ?? null }),
  error_code: errorCode ?? null,
  attempts: attempts === undefined ? null : stringifyWellFormed(attempts),
});

/** Whether nothing is known of what a task has spent. */
export const isUnknown = ({ usage, costUsd }: Spent): boolean => usage === null && costUsd === null;

/** The columns of the summary that contain what a task has spent. */
export const toSpentSummary = ({ costUsd, costSource, usage }: Spent) => ({
  cost_usd: costUsd,
  cost_source: costSource,
  usage: usage === null ? null : JSON.stringify(usage),
});

/** What a task has spent, in a row of its summary. */
const toSpent = (row: Readonly<Record<string, unknown>>): Spent => ({
  costUsd: (row["cost_usd"] ?? null) as number | null,
  costSource: (row["cost_source"] ?? null) as Spent["costSource"],
  usage: typeof row["usage"] === "string" ? (JSON.parse(row["usage"]) as Spent["usage"]) : null,
});

/** What a child task has spent, in a row with its state. */
export const toChildSpent = (row: StoredRow): ChildSpent => ({ ...toSpent(row), state: row["state"] as TaskState });

/** The summary in a row, with the labels in its column `labels`, if there is one. */
export const toTaskSummary = (
  row: Readonly<Record<string, unknown>>,
  labels = JSON.parse(String(row["labels"] ?? "{}")) as TaskSummary["labels"],
): TaskSummary => ({
  labels,
  title: (row["title"] ?? null) as string | null,
  model: (row["model"] ?? null) as string | null,
  ...toSpent(row),
  errorCode: (row["error_code"] ?? null) as TaskSummary["errorCode"],
  attempts: typeof row["attempts"] === "string" ? (JSON.parse(row["attempts"]) as TaskSummary["attempts"]) : [],
});
