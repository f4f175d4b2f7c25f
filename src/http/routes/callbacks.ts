import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { parseOrigin } from "../../callbacks/callback-body.ts";
import type { Callbacks } from "../../callbacks/callbacks.ts";
import { cursorSchema, encodeCursor, pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { problemResponses, redeliveryCodes } from "../wire/problem.ts";
import { emptyBody, noQuery, taskParams } from "../wire/request-schemas.ts";
import {
  callbackDetailsSchema,
  callbackSchema,
  callbackStateSchema,
  describeCallback,
  describeCallbackDetails,
  redeliverySchema,
} from "./describe-callback.ts";

/** The callbacks of a tenant and their attempts, and the redelivery of dead ones. */
export const callbackRoutes: FastifyPluginAsyncZodOpenApi<{ callbacks: Callbacks }> = async (app, { callbacks }) => {
  app.get(
    "/api/v2/callbacks",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listCallbacks",
        tags: ["callbacks"],
        summary: "List callbacks",
        description: "Callbacks of the ended tasks of your tenant, newest task first. `dead` callbacks have no retries left.",
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

  app.get(
    "/api/v2/callbacks/:taskId",
    {
      config: { scope: "read" },
      schema: {
        operationId: "getCallback",
        tags: ["callbacks"],
        summary: "Get a callback with its attempts",
        description:
          "The callback of a task and its last attempts, with the beginning of each response. Until the task ends, it is `pending` and `waitingOn` is `task`.",
        params: taskParams,
        querystring: noQuery,
        response: {
          200: { description: "The callback.", content: { "application/json": { schema: callbackDetailsSchema } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_found"),
        },
      },
    },
    async (request) => describeCallbackDetails(await callbacks.get(request.principal.tenant, request.params.taskId)),
  );

  app.post(
    "/api/v2/callbacks/redeliver",
    {
      config: { scope: "dispatch" },
      schema: {
        operationId: "redeliverCallbacks",
        tags: ["callbacks"],
        summary: "Redeliver all dead callbacks of a receiver",
        description:
          "Starts a new round of attempts for the dead callbacks of your tenant to one origin. A request examines at most 1,000 dead callbacks, " +
          "those of the newest tasks first. Repeat it with `cursor` until `nextCursor` is null.",
        querystring: noQuery,
        body: redeliveryRequestSchema,
        response: {
          202: { description: "How many callbacks are pending again.", content: { "application/json": { schema: redeliverySchema } } },
          ...problemResponses(...redeliveryCodes),
        },
      },
    },
    async (request, reply) => {
      const { origin, cursor } = request.body;
      const { redelivered, next } = await callbacks.redeliverAll({ tenant: request.principal.tenant, origin }, cursor ?? null);
      return reply.code(202).send({ redelivered, nextCursor: next === null ? null : encodeCursor(next) });
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
          ...problemResponses(...redeliveryCodes, "not_found", "invalid_state", "already_delivered"),
        },
      },
    },
    async (request, reply) => {
      const callback = await callbacks.redeliver(request.principal.tenant, request.params.taskId);
      return reply.code(202).send(describeCallback(callback));
    },
  );
};

const originSchema = z
  .string()
  .max(2048)
  .transform((text, context) => {
    const origin = parseOrigin(text);
    if (origin !== null) return origin;
    context.issues.push({ code: "custom", input: text, message: "must be scheme, host and port only, such as https://example.com" });
    return z.NEVER;
  });

const redeliveryRequestSchema = z
  .strictObject({
    origin: originSchema.describe("Scheme, host and port of the receiver, such as https://example.com."),
    cursor: cursorSchema.optional().describe("`nextCursor` of the previous request."),
  })
  .meta({ id: "RedeliveryRequest", override: { examples: [{ origin: "https://receiver.example" }] } });
