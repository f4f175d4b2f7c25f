import type { onRequestAsyncHookHandler } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { TaskChanges } from "../../queries/task-changes.ts";
import { PATCH_BYTES } from "../../repositories/stored-changes.ts";
import { createClosedSignal } from "../wire/closed-signal.ts";
import { forwardingCodes, problemResponses } from "../wire/problem.ts";
import { noQuery, taskParams } from "../wire/request-schemas.ts";

/** The parts that git has printed, their copy in one piece, and what the client has not read yet. */
const PATCH_COPIES = 3;

/** `GET /api/v2/tasks/{taskId}/patch`. */
export const taskPatchRoutes: FastifyPluginAsyncZodOpenApi<{
  changes: Pick<TaskChanges, "readPatch">;
  /** Passes requests to the node of their task. */
  forward: onRequestAsyncHookHandler;
}> = async (app, { changes, forward }) => {
  app.addHook("onRequest", forward);
  app.get(
    "/api/v2/tasks/:taskId/patch",
    {
      config: { scope: "read", isRateLimited: true },
      // A HEAD request would create the patch, too.
      exposeHeadRoute: false,
      schema: {
        operationId: "getTaskPatch",
        tags: ["files"],
        summary: "Get the patch of a task",
        description:
          "The commits of an ended task with a repository, in the format of `git format-patch`, for `git am --3way --keep-cr --keep-non-patch`. Empty if the task has changed nothing. At most 64 MiB. 409 `invalid_state` until the task ends; 404 `not_found` if the task has no repository, or its dispatch has `keep: none`.",
        params: taskParams,
        querystring: noQuery,
        response: {
          200: {
            description: "The patch. Its bytes need not be UTF-8.",
            content: { "text/x-patch": { schema: z.string().meta({ override: { type: "string", format: "binary" } }) } },
          },
          ...problemResponses(
            "invalid_request",
            "unauthenticated",
            "scope_missing",
            "not_found",
            "not_supported",
            "invalid_state",
            "too_large",
            "too_many_requests",
            ...forwardingCodes,
          ),
        },
      },
    },
    async (request, reply) => {
      const reserve = () => request.reserve(reply, PATCH_COPIES * PATCH_BYTES);
      const patch = await changes.readPatch(request.principal.tenant, request.params.taskId, {
        reserve,
        signal: createClosedSignal(reply),
      });
      return reply.type("text/x-patch").send(patch as never);
    },
  );
};
