import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { taskErrorCodeSchema } from "#contract";
import { PAGE_BYTES } from "../../access/client-memory.ts";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import { BridgeError } from "../../errors.ts";
import type { TaskReader } from "../../queries/task-reader.ts";
import { encodeCursor, pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { PREFER_DESCRIPTION } from "../wire/prefer-header.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { emptyBody, noQuery, taskParams } from "../wire/request-schemas.ts";
import { headersOf } from "../wire/response-headers.ts";
import { timeInput, timeParameter } from "../wire/timestamps.ts";
import { callbackStateSchema } from "./describe-callback.ts";
import { describeListedTask, listedTaskSchema, sendTask, taskSchema, taskStateInput, taskStateSchema } from "./describe-task.ts";
import { waitIfPreferred } from "./wait-if-preferred.ts";

/** Options of the routes. */
export interface TaskRouteOptions {
  dispatcher: Dispatcher;
  tasks: TaskReader;
}

/** Maximum labels of a filter, as many as a task can have. */
const MAX_LABEL_FILTERS = 16;
const labelFilter = z
  .string()
  .regex(/^[^=]+=.+$/, "must be name=value, for example label=team=docs")
  .transform((text) => ({ name: text.slice(0, text.indexOf("=")), value: text.slice(text.indexOf("=") + 1) }));

/** Conditions that have no index in the order of the list. */
const searchQuery = {
  errorCode: z
    .enum([...taskErrorCodeSchema.options, "canceled"])
    .transform((code) => (code === "canceled" ? "cancelled" : code))
    .optional()
    .describe("Only tasks that ended with this error code.")
    .meta({ override: { type: "string", enum: [...taskErrorCodeSchema.options, "canceled"] } }),
  callback: callbackStateSchema.optional().describe("Only ended tasks with a callback in this state."),
  waitingOn: z.enum(["approval"]).optional().describe("`approval`: only tasks with a tool call that waits for approval."),
  createdAfter: timeParameter.optional().describe("Only tasks that were created at this time or later.").meta(timeInput),
  createdBefore: timeParameter.optional().describe("Only tasks that were created before this time.").meta(timeInput),
  finishedAfter: timeParameter.optional().describe("Only tasks that ended at this time or later.").meta(timeInput),
  finishedBefore: timeParameter.optional().describe("Only tasks that ended before this time.").meta(timeInput),
  idPrefix: z
    .string()
    .regex(/^[A-Za-z0-9_:-]{1,128}$/, "must be the beginning of a taskId: 1 to 128 of A-Z a-z 0-9 _ : -")
    .optional()
    .describe("Only tasks whose id begins with this text."),
  root: z
    .string()
    .regex(/^([A-Za-z0-9_:-]{1,128}|\*)$/, "must be a taskId, or * for tasks without a parent")
    .optional()
    .describe("Only this task, its child tasks and their child tasks. `*`: only tasks without a parent."),
  label: z
    .preprocess((value) => (typeof value === "string" ? [value] : value), z.array(labelFilter).max(MAX_LABEL_FILTERS))
    .optional()
    .meta({
      description: "Only tasks with this label, as `name=value`. Repeat the parameter for tasks that have several labels.",
      override: { type: "array", items: { type: "string" }, maxItems: MAX_LABEL_FILTERS },
    }),
  q: z
    .string()
    .min(1, "must have 1 to 200 characters")
    .max(200, "must have 1 to 200 characters")
    .optional()
    .describe("Only tasks whose `title` contains this text, whatever the case of its ASCII letters."),
  search: z
    .string()
    .min(1, "must have 1 to 200 characters")
    .max(200, "must have 1 to 200 characters")
    .optional()
    .describe(
      "Only tasks whose id begins with this text, whose `title` or `agentId` contains it, or that have the label `name=value` that it begins. Tasks that it finds by their id come first, in a separate page.",
    ),
};

const listQuery = z.strictObject({
  ...pageQuery,
  ...searchQuery,
  state: taskStateInput.optional().describe("Only tasks in this state."),
  provider: z.string().optional().describe("Only tasks of this adapter."),
  agentId: z.string().optional().describe("Only tasks of this agent."),
  parentTaskId: z.string().optional().describe("Only child tasks of this task."),
});
const cancelledSchema = z
  .strictObject({ taskId: z.string(), state: taskStateSchema })
  .meta({ id: "CancelledTask", description: "The state of the task after the request." });
/** Errors of requests that change a task. */
const changeErrorCodes = [
  ...bodyErrorCodes,
  "unauthenticated",
  "scope_missing",
  "not_found",
  "too_many_requests",
  "storage_unavailable",
] as const;

/** `GET /api/v2/tasks`, `GET` and `DELETE /api/v2/tasks/{taskId}`, and `POST /api/v2/tasks/{taskId}/cancel`. */
export const taskRoutes: FastifyPluginAsyncZodOpenApi<TaskRouteOptions> = async (app, { dispatcher, tasks }) => {
  app.get(
    "/api/v2/tasks",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listTasks",
        tags: ["tasks"],
        summary: "List tasks",
        description:
          "Tasks of your tenant, newest first, without their results. A page can have fewer than `limit` tasks; `nextCursor` is null on the last page. With `errorCode`, `callback`, `waitingOn`, `createdAfter`, `createdBefore`, `finishedAfter`, `finishedBefore`, `idPrefix`, `root`, `label`, `q` or `search`, a page examines at most 2,000 tasks, so that it can be empty before the last page.",
        querystring: listQuery,
        response: {
          200: {
            description: "A page of tasks, without their results.",
            content: { "application/json": { schema: pageSchema(listedTaskSchema) } },
          },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request, reply) => {
      await request.reserve(reply, PAGE_BYTES);
      return listTasks(tasks, request.principal.tenant, request.query);
    },
  );

  app.get(
    "/api/v2/tasks/:taskId",
    {
      config: { scope: "read" },
      schema: {
        operationId: "getTask",
        tags: ["tasks"],
        summary: "Get a task",
        description: "The task with its result, which is null until the task ends.",
        params: taskParams,
        querystring: noQuery,
        headers: z.looseObject({ prefer: z.string().optional().describe(PREFER_DESCRIPTION) }),
        response: {
          200: {
            description: "The task.",
            headers: headersOf("Preference-Applied"),
            content: { "application/json": { schema: taskSchema } },
          },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_found"),
        },
      },
    },
    async (request, reply) => {
      const { tenant } = request.principal;
      const { taskId } = request.params;
      const task = await tasks.findProgress(tenant, taskId);
      if (task === null) throw createTaskNotFound();
      await waitIfPreferred({ prefer: request.headers.prefer, reply, dispatcher }, task);
      await request.reserve(reply, await tasks.resultBytes(tenant, taskId));
      const snapshot = await tasks.find(tenant, taskId);
      if (snapshot === null) throw createTaskNotFound();
      return sendTask(reply, snapshot);
    },
  );

  app.delete(
    "/api/v2/tasks/:taskId",
    {
      config: { scope: "dispatch", isRateLimited: true },
      schema: {
        operationId: "deleteTask",
        tags: ["tasks"],
        summary: "Delete a task that has ended",
        description:
          "Deletes the task and its child tasks: request, result, events, approvals and callback. Files in the workspace remain. Fails with 409 `invalid_state` while the task runs (cancel it first) or its callback is being delivered. A later dispatch with this `taskId` is a new task.",
        params: taskParams,
        querystring: noQuery,
        response: {
          204: { description: "Deleted." },
          ...problemResponses(...changeErrorCodes, "invalid_state"),
        },
      },
    },
    async (request, reply) => {
      await dispatcher.deleteTask(request.principal.tenant, request.params.taskId);
      return reply.code(204).send();
    },
  );

  app.post(
    "/api/v2/tasks/:taskId/cancel",
    {
      config: { scope: "dispatch" },
      schema: {
        operationId: "cancelTask",
        tags: ["tasks"],
        summary: "Cancel a task",
        description: "Cancels the task and its child tasks. Has no effect on a task that has ended.",
        params: taskParams,
        querystring: noQuery,
        body: emptyBody,
        response: {
          200: {
            description: "The task had already ended; nothing changed.",
            content: { "application/json": { schema: cancelledSchema } },
          },
          202: {
            description: "The cancellation has started. `state` can still be `running`: the task ends when its runtime has stopped.",
            content: { "application/json": { schema: cancelledSchema } },
          },
          ...problemResponses(...changeErrorCodes),
        },
      },
    },
    async (request, reply) => {
      const { task, changed } = await dispatcher.cancel(request.principal.tenant, request.params.taskId);
      return reply.code(changed ? 202 : 200).send({ taskId: task.taskId, state: task.state });
    },
  );
};

async function listTasks(tasks: TaskReader, tenant: string, query: z.output<typeof listQuery>) {
  const {
    limit,
    cursor,
    errorCode,
    callback,
    waitingOn,
    createdAfter,
    createdBefore,
    finishedAfter,
    finishedBefore,
    idPrefix,
    root,
    label,
    q,
    search: text,
    ...filter
  } = query;
  const times = { createdAfter, createdBefore, finishedAfter, finishedBefore };
  const search = { ...times, errorCode, callback, waitingOn, idPrefix, root: root === "*" ? null : root, labels: label, title: q, text };
  if (Object.values(search).some((value) => value !== undefined)) {
    const { found, next } = await tasks.search({ ...filter, ...search, tenant }, { before: cursor ?? null, limit });
    return {
      data: found.map(describeListedTask),
      meta: { nextCursor: next === null ? null : encodeCursor(next) },
    };
  }
  const readPage = (before: number | null, size: number) => tasks.list({ ...filter, tenant }, { before, limit: size });
  const found = await readPage(cursor ?? null, limit);
  const last = found.at(-1);
  // A page with large metadata is cut short, so a page shorter than `limit` need not be the last.
  const hasMore = last !== undefined && (await readPage(last.task.seq, 1)).length > 0;
  return toPage(found, hasMore, describeListedTask, ({ task }) => task.seq);
}

const createTaskNotFound = (): BridgeError => new BridgeError("not_found", "There is no such task.");
