import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import { costSources, normalizedUsageSchema, stringifyWellFormed } from "#contract";
import { queuedReasons } from "../../dispatch/scheduler/queued-reason.ts";
import type { StoredTaskRepository, TaskSnapshot } from "../../queries/task-reader.ts";
import { type ListedTask, taskStates } from "../../task.ts";
import { extensibleEnum } from "../wire/extensible-enum.ts";
import { attemptSchema, errorCodeSchema, resultSchema } from "../wire/result-schema.ts";
import { timestamp, toIso, toIsoOrNull } from "../wire/timestamps.ts";
import { callbackStateSchema } from "./describe-callback.ts";

/** A running task without an event for this long counts as waiting for its runtime. */
const RUNTIME_SILENCE_MS = 30_000;

export const taskStateSchema = z
  .enum(taskStates)
  .meta({ id: "TaskState", description: "`completed`, `failed` and `cancelled` are final." });

/** Schema of a state in a query, which may also have the American spelling. */
export const taskStateInput = z
  .enum([...taskStates, "canceled"])
  .transform((state) => (state === "canceled" ? "cancelled" : state))
  .meta({ override: { type: "string", enum: [...taskStates, "canceled"] } });

const waitingOnSchema = extensibleEnum(z.enum(["queue", "quota", "budget", "cooldown", "approval", "runtime"]), {
  id: "WaitingReason",
  description:
    "`queue`: queued. `quota`: queued because the tenant or the agent has its maximum of running tasks. `budget`: queued because a budget has no room for the task. `cooldown`: queued until the vendor of its model accepts calls again. `approval`: a tool call or a budget waits for an approval. `runtime`: running without an event for 30 s.",
});

const queuedBecauseSchema = extensibleEnum(z.enum(queuedReasons), {
  id: "QueuedReason",
  description:
    "`slot`: a free slot. `session`: the end of the task that uses its resume token. `quota`: the tenant or the agent has its maximum of running tasks. `budget`: room in a budget, which ends of tasks, an adjustment or the next period make. `node`: a running node that has the adapter online, or the node of the agent. `cooldown`: the end of a usage limit (`whenLimited`). `tag`: a running node with the tags of `runsOn`.",
});

const deliverySchema = z
  .strictObject({
    state: callbackStateSchema,
    url: z.string(),
    attempts: z.number().int(),
    nextAttemptAt: timestamp.nullable().describe("Null until the task ends, and while no attempt is planned."),
    lastStatus: z.number().int().nullable(),
    lastError: z.string().nullable(),
  })
  .meta({
    id: "CallbackDelivery",
    description:
      "The delivery of a task's callback. The state is `pending` from the dispatch on; the first attempt starts when the task ends.",
  });

const taskRepositorySchema = z
  .strictObject({
    name: z.string(),
    branch: z.string(),
    baseCommit: z.string().nullable().describe("The commit at which the task began. Null until it is known."),
    headCommit: z.string().nullable().describe("The commit that contains all changes. Null until the task ends, and if there is none."),
    commits: z.number().int().nullable().describe("Null until the task ends."),
    files: z.number().int().nullable().describe("Number of changed files. Null until the task ends."),
    insertions: z.number().int().nullable().describe("Number of added lines. Null until the task ends."),
    deletions: z.number().int().nullable().describe("Number of removed lines. Null until the task ends."),
    pushed: z.boolean().nullable().describe("Whether Bridge has pushed the branch. Null until the task ends."),
    pushError: z.string().nullable().describe("Why a requested push failed."),
    error: z.string().nullable().describe("Why the changes are not stored completely."),
  })
  .meta({ id: "TaskRepository", description: "The repository of which a task has a separate work tree, and what it has changed." });

const listedTask = {
  taskId: z.string(),
  parentTaskId: z.string().nullable(),
  provider: z.string(),
  agentId: z.string(),
  state: taskStateSchema,
  waitingOn: waitingOnSchema.nullable(),
  queuedBecause: queuedBecauseSchema.nullable().describe("What a queued task waits for; null if it is not queued."),
  waitingForBudgets: z.array(z.string()).describe("Names of the budgets without room, if the task waits for one; otherwise empty."),
  node: z
    .string()
    .nullable()
    .describe(
      "Name of the node that runs or ran the task, or of the only one that may start it. Null with SQLite, and if it was forgotten.",
    ),
  title: z
    .string()
    .nullable()
    .describe(
      "The first line of the message, or of `task_description` of a council, at most 120 characters. Null without both, and for tasks of earlier versions.",
    ),
  model: z.string().nullable().describe("The model that ran the task; until the task ends, the requested one. Null if it is unknown."),
  usage: normalizedUsageSchema.nullable().describe("Null if it is unknown."),
  costUsd: z.number().nullable().describe("Null if it is unknown."),
  costSource: z
    .enum(costSources)
    .nullable()
    .describe(
      "`runtime`: the runtime's own figure. `priced`: at least in part, tokens multiplied by a price. Null if the cost is unknown.",
    ),
  errorCode: errorCodeSchema.nullable().describe("Why the task failed."),
  attempts: z
    .array(attemptSchema)
    .describe(
      "The attempts that have ended, and the candidates that were skipped. Empty if the dispatch has neither `fallbacks` nor `retry`.",
    ),
  labels: z.record(z.string(), z.string()),
  createdAt: timestamp,
  startedAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
  lastProgressAt: timestamp.nullable(),
  callback: deliverySchema.nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  childCount: z.number().int().describe("Number of child tasks, without their child tasks."),
  repository: taskRepositorySchema.nullable().describe("Null if the task has no separate work tree."),
};

/** A task in a list, without its result. */
export const listedTaskSchema = z.strictObject(listedTask).meta({ id: "ListedTask", description: "A task without its result." });
/** A task with its result. */
export const taskSchema = z.strictObject({ ...listedTask, result: resultSchema.nullable() }).meta({
  id: "Task",
  description: "A task; `result` is null until it ends.",
  examples: [
    {
      taskId: "report-7",
      parentTaskId: null,
      provider: "command",
      agentId: "auditor",
      state: "completed",
      waitingOn: null,
      queuedBecause: null,
      waitingForBudgets: [],
      node: null,
      title: "Count BRIDGE in *.md",
      model: null,
      usage: null,
      costUsd: null,
      costSource: null,
      errorCode: null,
      attempts: [],
      labels: { team: "docs" },
      createdAt: "2026-11-22T09:30:00.000Z",
      startedAt: "2026-11-22T09:30:00.004Z",
      finishedAt: "2026-11-22T09:30:00.816Z",
      lastProgressAt: "2026-11-22T09:30:00.810Z",
      callback: null,
      metadata: null,
      childCount: 0,
      repository: null,
      result: { status: "ok", output: "BRIDGE occurs 12 times.", durationMs: 812, connection: "cli" },
    },
  ],
});

/** Converts a task to its form in lists. */
export function describeListedTask(snapshot: TaskSnapshot<ListedTask>): z.infer<typeof listedTaskSchema> {
  const { task, summary, callback, lastProgressAt, queuedBecause, waitingForBudgets, node, childCount, repository } = snapshot;
  return {
    taskId: task.taskId,
    parentTaskId: task.parentTaskId,
    provider: task.provider,
    agentId: task.agentId,
    state: task.state,
    waitingOn: findWaitingReason(snapshot),
    queuedBecause,
    waitingForBudgets: [...waitingForBudgets],
    node,
    title: summary.title,
    model: summary.model,
    usage: summary.usage,
    costUsd: summary.costUsd,
    costSource: summary.costSource,
    errorCode: summary.errorCode,
    attempts: [...summary.attempts],
    labels: summary.labels,
    createdAt: toIso(task.createdAt),
    startedAt: toIsoOrNull(task.startedAt),
    finishedAt: toIsoOrNull(task.finishedAt),
    lastProgressAt: toIsoOrNull(lastProgressAt),
    callback: callback === null ? null : describeDelivery(callback),
    metadata: task.metadata,
    childCount,
    repository: repository === null ? null : describeRepository(repository),
  };
}

function describeRepository({ name, branch, baseCommit, outcome }: StoredTaskRepository): z.infer<typeof taskRepositorySchema> {
  return {
    ...{ name, branch, baseCommit },
    headCommit: outcome?.headCommit ?? null,
    commits: outcome?.commits ?? null,
    files: outcome?.files ?? null,
    insertions: outcome?.insertions ?? null,
    deletions: outcome?.deletions ?? null,
    pushed: outcome?.pushed ?? null,
    pushError: outcome?.pushError ?? null,
    error: outcome?.error ?? null,
  };
}

/** Responds with a task. A long result is streamed from the store. */
export function sendTask(reply: FastifyReply, snapshot: TaskSnapshot): FastifyReply {
  const described = describeTask(snapshot);
  reply.code(200);
  if (snapshot.readResult === undefined) return reply.send(described);
  return reply
    .type("application/json; charset=utf-8")
    .send(Readable.from(encodeTask(described, snapshot.readResult()), { objectMode: false }));
}

/** Encodes a task as JSON and inserts the JSON text of its result. */
async function* encodeTask({ result: _, ...described }: z.infer<typeof taskSchema>, result: AsyncIterable<string>): AsyncGenerator<string> {
  yield `${stringifyWellFormed(described).slice(0, -1)},"result":`;
  yield* result;
  yield "}";
}

/** Converts a task to its form in the API. */
export function describeTask(snapshot: TaskSnapshot): z.infer<typeof taskSchema> {
  const { task } = snapshot;
  const listed = { ...snapshot, task: { ...task, summary: snapshot.summary, metadata: task.request.metadata ?? null } };
  return { ...describeListedTask(listed), result: task.result };
}

function findWaitingReason({
  task,
  silentMs,
  isApprovalPending,
  queuedBecause,
}: TaskSnapshot<ListedTask>): z.infer<typeof listedTask.waitingOn> {
  if (task.state === "queued")
    return queuedBecause === "quota" || queuedBecause === "budget" || queuedBecause === "cooldown" ? queuedBecause : "queue";
  if (task.state !== "running") return null;
  if (isApprovalPending) return "approval";
  return silentMs !== null && silentMs > RUNTIME_SILENCE_MS ? "runtime" : null;
}

function describeDelivery({ state, url, attempts, nextAttemptAt, lastStatus, lastError }: NonNullable<TaskSnapshot["callback"]>) {
  return { state, url, attempts, nextAttemptAt: toIsoOrNull(nextAttemptAt), lastStatus, lastError };
}
