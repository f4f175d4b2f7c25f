import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { Callbacks } from "../../callbacks/callbacks.ts";
import { pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { emptyBody, noQuery, taskParams } from "../wire/request-schemas.ts";
import { callbackSchema, callbackStateSchema, describeCallback } from "./describe-callback.ts";

/** `GET /api/v2/callbacks` and `POST /api/v2/callbacks/{taskId}/redeliver`. */
export const callbackRoutes: FastifyPluginAsyncZodOpenApi<{ callbacks: Callbacks }> = async (app, { callbacks }) => {
  app.get(
    "/api/v2/callbacks",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listCallbacks",
        tags: ["callbacks"],
        summary: "List callbacks",
        description: "Callbacks of your tenant, newest task first. `dead` callbacks have no retries left.",
        querystring: z.strictObject({ ...pageQuery, state: callbackStateSchema.optional().describe("Only callbacks in this state.") }),
        response: {
          200: { description: "A page of callbacks.", content: { "application/json": { schema: pageSchema(callbackSchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request) => {
      const { limit, cursor, state } = request.query;
      const found = await callbacks.list(request.principal.tenant, state, { before: cursor ?? null, limit: limit + 1 });
      return toPage(found.slice(0, limit), found.length > limit, describeCallback, ({ task }) => task.seq);
    },
  );

  app.post(
    "/api/v2/callbacks/:taskId/redeliver",
    {
      config: { scope: "dispatch" },
      schema: {
        operationId: "redeliverCallback",
        tags: ["callbacks"],
        summary: "Redeliver a dead callback",
        description: "Starts a new round of attempts with the same `webhook-id` and body.",
        params: taskParams,
        querystring: noQuery,
        body: emptyBody,
        response: {
          202: { description: "The callback, pending again.", content: { "application/json": { schema: callbackSchema } } },
          ...problemResponses(
            ...bodyErrorCodes,
            "unauthenticated",
            "scope_missing",
            "not_found",
            "invalid_state",
            "already_delivered",
            "too_many_requests",
            "storage_unavailable",
          ),
        },
      },
    },
    async (request, reply) => {
      const callback = await callbacks.redeliver(request.principal.tenant, request.params.taskId);
      return reply.code(202).send(describeCallback(callback));
    },
  );
};
