import { type FastifyPluginAsyncZodOpenApi, validatorCompiler } from "fastify-zod-openapi";
import { z } from "zod";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import type { ReceiveDispatch } from "../../dispatch/receive-dispatch.ts";
import type { TaskReader } from "../../queries/task-reader.ts";
import type { createDescribedDispatchSchema } from "../../requests/dispatch-schema.ts";
import { isFinal, type TaskRepository } from "../../task.ts";
import { PREFER_DESCRIPTION } from "../wire/prefer-header.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";
import { headersOf } from "../wire/response-headers.ts";
import { timestamp, toIso } from "../wire/timestamps.ts";
import { sendTask, taskSchema, taskStateSchema } from "./describe-task.ts";
import { parseTraceContext } from "./trace-context.ts";
import { waitIfPreferred } from "./wait-if-preferred.ts";

/** Options of the route. */
export interface DispatchRouteOptions {
  /** Describes the body of a dispatch. */
  bodySchema: ReturnType<typeof createDescribedDispatchSchema>;
  receiveDispatch: ReceiveDispatch;
  dispatcher: Pick<Dispatcher, "waitForEnd">;
  tasks: Pick<TaskReader, "find" | "resultBytes">;
}

/** The repository of an accepted task. */
export const acceptedRepositorySchema = z
  .strictObject({
    name: z.string(),
    ref: z.string(),
    branch: z.string(),
    baseCommit: z
      .string()
      .nullable()
      .describe(
        "The commit from which the task starts. Null if the fetch took too long or failed; then the task fetches again when it starts.",
      ),
  })
  .meta({ id: "AcceptedRepository", description: "The repository of which a task gets a separate work tree." });

/** Converts the repository of a task to its form in the API; null if it has none. */
export const describeAcceptedRepository = (repository: TaskRepository | undefined): z.infer<typeof acceptedRepositorySchema> | null => {
  if (repository === undefined) return null;
  const { name, ref, branch, baseCommit } = repository;
  return { name, ref, branch, baseCommit };
};

const acceptedSchema = z
  .strictObject({
    taskId: z.string(),
    provider: z.string(),
    agentId: z.string(),
    state: taskStateSchema,
    createdAt: timestamp,
    repository: acceptedRepositorySchema.nullable(),
  })
  .meta({
    id: "AcceptedTask",
    description: "A task that Bridge has stored.",
    examples: [
      {
        taskId: "report-7",
        provider: "command",
        agentId: "auditor",
        state: "queued",
        createdAt: "2026-11-22T09:30:00.000Z",
        repository: null,
      },
    ],
  });

const acceptedHeaders = headersOf("Location", "Idempotent-Replayed", "Preference-Applied");

const headers = z.object({
  "idempotency-key": z.string().optional().describe("The `taskId`, if the body has none."),
  prefer: z.string().optional().describe(`${PREFER_DESCRIPTION} A task that ends in this time is returned with 200.`),
  traceparent: z.string().optional().describe("W3C trace context. Bridge passes it to the runtime and the callback."),
  tracestate: z
    .string()
    .optional()
    .describe("Belongs to `traceparent`, with which Bridge passes it on. Ignored if it is invalid or longer than 512 characters."),
});

/** `POST /api/v2/dispatch`. */
export const dispatchRoutes: FastifyPluginAsyncZodOpenApi<DispatchRouteOptions> = async (
  app,
  { bodySchema, receiveDispatch, dispatcher, tasks },
) => {
  app.post(
    "/api/v2/dispatch",
    {
      config: { scope: "dispatch", shedsLoad: true },
      // `receiveDispatch` validates the body, because the WebSocket protocol accepts dispatches too.
      validatorCompiler: (route) => (route.httpPart === "querystring" ? validatorCompiler(route as never) : (value) => ({ value })),
      schema: {
        operationId: "dispatchTask",
        tags: ["tasks"],
        summary: "Dispatch a task",
        description:
          "Stores the task and returns 202 immediately; the task then waits for a free slot of its adapter. A repeated `taskId` with the same body returns the first task. With `Prefer: wait=N` the response is 200 with the ended task, if it ends in time.",
        querystring: noQuery,
        headers,
        body: bodySchema,
        response: {
          200: {
            description: "The task, which ended within `Prefer: wait`.",
            headers: acceptedHeaders,
            content: { "application/json": { schema: taskSchema } },
          },
          202: {
            description: "Accepted. The task is stored and survives a restart of Bridge.",
            headers: acceptedHeaders,
            content: { "application/json": { schema: acceptedSchema } },
          },
          ...problemResponses(
            ...bodyErrorCodes,
            "unauthenticated",
            "scope_missing",
            "task_conflict",
            "unknown_provider",
            "capability_missing",
            "callback_url_refused",
            "mcp_refused",
            "budget_too_small",
            "profile_conflict",
            "resume_unknown",
            "unknown_repository",
            "unknown_ref",
            "push_refused",
            "invalid_state",
            "budget_exhausted",
            "too_many_requests",
            "queue_full",
            "adapter_offline",
            "draining",
            "overloaded",
            "storage_unavailable",
          ),
        },
      },
    },
    async (request, reply) => {
      const { prefer, "idempotency-key": idempotencyKey } = request.headers;
      const { task: accepted, replayed } = await receiveDispatch(request.body, {
        tenant: request.principal.tenant,
        tokenName: request.principal.name,
        ...parseTraceContext(request.headers),
        idempotencyKey,
      });
      reply.header("location", `/api/v2/tasks/${accepted.taskId}`);
      if (replayed) reply.header("idempotent-replayed", "true");
      const waited = await waitIfPreferred({ prefer, reply, dispatcher }, accepted);
      if (waited !== null && isFinal(waited.state)) {
        await request.reserve(reply, await tasks.resultBytes(waited.tenant, waited.taskId));
        const snapshot = await tasks.find(waited.tenant, waited.taskId);
        if (snapshot !== null) return sendTask(reply, snapshot);
      }
      const { taskId, provider, agentId, state, createdAt } = waited ?? accepted;
      const repository = describeAcceptedRepository(accepted.request.repository);
      return reply.code(202).send({ taskId, provider, agentId, state, createdAt: toIso(createdAt), repository });
    },
  );
};
