import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import { BridgeError } from "../../errors.ts";
import type { TaskReader } from "../../queries/task-reader.ts";
import { PREFER_DESCRIPTION } from "../wire/prefer-header.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { emptyBody, noQuery, taskParams } from "../wire/request-schemas.ts";
import { headersOf } from "../wire/response-headers.ts";
import { sendTask, taskSchema, taskStateSchema } from "./describe-task.ts";
import { waitIfPreferred } from "./wait-if-preferred.ts";

/** Options of the routes. */
export interface TaskRouteOptions {
  dispatcher: Dispatcher;
  tasks: TaskReader;
}

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

/** `GET` and `DELETE /api/v2/tasks/{taskId}`, and `POST /api/v2/tasks/{taskId}/cancel`. */
export const taskRoutes: FastifyPluginAsyncZodOpenApi<TaskRouteOptions> = async (app, { dispatcher, tasks }) => {
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

const createTaskNotFound = (): BridgeError => new BridgeError("not_found", "There is no such task.");
