import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { MAX_BYTES_PER_TENANT } from "../../access/client-memory.ts";
import { BridgeError } from "../../errors.ts";
import type { TaskReader } from "../../queries/task-reader.ts";
import { toDefaultBranch } from "../../requests/branch-name.ts";
import type { AskedRepository, createDescribedDispatchSchema } from "../../requests/dispatch-schema.ts";
import type { TaskRepository } from "../../task.ts";
import { problemResponses } from "../wire/problem.ts";
import { noQuery, taskParams } from "../wire/request-schemas.ts";
import { MASK, maskSecrets } from "./mask-secrets.ts";

/** Options of the route. */
export interface TaskRequestRouteOptions {
  /** Describes the body of a dispatch. */
  bodySchema: ReturnType<typeof createDescribedDispatchSchema>;
  tasks: Pick<TaskReader, "findRequest" | "resultBytes">;
}

/** The schema of a stored request: the body of a dispatch, after aliases and defaults were applied. */
function createTaskRequestSchema({ shape: { outputSchema: _, tools: __, ...fields } }: TaskRequestRouteOptions["bodySchema"]) {
  const request = z
    .strictObject({
      ...fields,
      tools: z
        .array(z.strictObject({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) }))
        .optional(),
      reasoningLevel: z.enum(["medium", "high", "xhigh"]).optional().describe("Set for child tasks only."),
    })
    .meta({ id: "StoredDispatch", description: "The body of a dispatch, after aliases and defaults were applied." });
  return z
    .strictObject({
      request,
      masked: z
        .array(z.string())
        .describe(`Paths of the values that were replaced by \`${MASK}\`, for example \`mcpServers.0.env.TOKEN\`.`),
    })
    .meta({ id: "TaskRequest", description: "The request of a task, without secrets of its MCP servers." });
}

/** The repository as a new dispatch can name it: without what Bridge has added, and without the default name of the branch. */
function toAskedRepository(taskId: string, { baseCommit: _, continuesBranch: __, branch, ...repository }: TaskRepository): AskedRepository {
  return branch === toDefaultBranch(taskId) ? repository : { ...repository, branch };
}

/** `GET /api/v2/tasks/{taskId}/request`. */
export const taskRequestRoutes: FastifyPluginAsyncZodOpenApi<TaskRequestRouteOptions> = async (app, { bodySchema, tasks }) => {
  app.get(
    "/api/v2/tasks/:taskId/request",
    {
      config: { scope: "read" },
      schema: {
        operationId: "getTaskRequest",
        tags: ["tasks"],
        summary: "Get the request of a task",
        description: `The request as Bridge has stored it, which can be dispatched again with a new \`taskId\`. The arguments, environment variables and headers of MCP servers, and the user info, query and fragment of their URLs, are replaced by \`${MASK}\`; \`masked\` lists them. Other fields are unchanged, so do not put secrets into them.`,
        params: taskParams,
        querystring: noQuery,
        response: {
          200: { description: "The request.", content: { "application/json": { schema: createTaskRequestSchema(bodySchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_found"),
        },
      },
    },
    async (request, reply) => {
      const { tenant } = request.principal;
      const { taskId: id } = request.params;
      // The stored text of the request and its values are in memory at the same time, and with them the result. A larger body is rare.
      const bodyBytes = Math.min(2 * request.routeOptions.bodyLimit, MAX_BYTES_PER_TENANT / 4);
      await request.reserve(reply, bodyBytes + (await tasks.resultBytes(tenant, id)));
      const task = await tasks.findRequest(tenant, id);
      if (task === null) throw new BridgeError("not_found", "There is no such task.");
      const { taskId, provider, agentId } = task;
      const { skipped: _, repository, ...dispatched } = task.request;
      const { request: shown, masked } = maskSecrets(dispatched);
      const asked = repository !== undefined && { repository: toAskedRepository(taskId, repository) };
      return reply.send({ request: { taskId, provider, agentId, ...shown, ...asked }, masked } as never);
    },
  );
};
