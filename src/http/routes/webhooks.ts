import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { type ListedWebhook, type Webhooks, webhookTypes } from "../../webhooks/webhooks.ts";
import { extensibleEnum } from "../wire/extensible-enum.ts";
import { pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { problemResponses } from "../wire/problem.ts";
import { callbackStateSchema } from "./describe-callback.ts";
import { deliverySchema, describeDelivery, webhookParams } from "./describe-delivery.ts";

const count = z.number().int().nonnegative();
const typeSchema = extensibleEnum(z.enum(webhookTypes), {
  id: "WebhookType",
  description: "A type of the event log, or `adapter.offline`: an adapter of a node has gone offline.",
});
const webhookSchema = z
  .strictObject({
    name: z.string(),
    origin: z.string().describe("Scheme, host and port of its URL."),
    types: z.array(typeSchema).describe("The events that it gets."),
    filter: z
      .strictObject({
        agentId: z.string().optional(),
        provider: z.string().optional(),
        labels: z.record(z.string(), z.string()).optional(),
      })
      .meta({ id: "WebhookFilter", description: "Conditions on these events. All of them must hold." }),
    pending: count.describe("Number of deliveries that are not delivered yet, counted up to 10,000."),
    dead: count.describe("Number of deliveries that have no retries left, counted up to 10,000."),
  })
  .meta({ id: "Webhook", description: "A webhook of the file BRIDGE_WEBHOOKS_FILE." });

/** `GET /api/v2/webhooks`, and the deliveries of a webhook. */
export const webhookRoutes: FastifyPluginAsyncZodOpenApi<{ webhooks: Webhooks }> = async (app, { webhooks }) => {
  app.get(
    "/api/v2/webhooks",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listWebhooks",
        tags: ["webhooks"],
        summary: "List webhooks",
        description: "The webhooks of your tenant, sorted by name. Paths of URLs, headers and secrets are not shown.",
        querystring: z.strictObject(pageQuery),
        response: {
          200: { description: "A page of webhooks.", content: { "application/json": { schema: pageSchema(webhookSchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request) => {
      const { limit, cursor: offset = 0 } = request.query;
      const all = (await webhooks.list(request.principal.tenant)).map((webhook, index) => ({ webhook, position: index + 1 }));
      return toPage(
        all.slice(offset, offset + limit),
        all.length > offset + limit,
        ({ webhook }) => describeWebhook(webhook),
        ({ position }) => position,
      );
    },
  );

  app.get(
    "/api/v2/webhooks/:name/deliveries",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listWebhookDeliveries",
        tags: ["webhooks"],
        summary: "List the deliveries of a webhook",
        description: "Deliveries to a webhook of your tenant, newest first. `dead` deliveries have no retries left.",
        params: webhookParams,
        querystring: z.strictObject({ ...pageQuery, state: callbackStateSchema.optional().describe("Only deliveries in this state.") }),
        response: {
          200: { description: "A page of deliveries.", content: { "application/json": { schema: pageSchema(deliverySchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_found"),
        },
      },
    },
    async (request) => {
      const { limit, cursor, state } = request.query;
      const page = { before: cursor ?? null, limit: limit + 1 };
      const found = await webhooks.listDeliveries(request.principal.tenant, request.params.name, state, page);
      return toPage(found.slice(0, limit), found.length > limit, describeDelivery, ({ seq }) => seq);
    },
  );
};

const describeWebhook = ({ types, filter, ...webhook }: ListedWebhook): z.infer<typeof webhookSchema> => ({
  ...webhook,
  types: [...types],
  filter: { ...filter, ...(filter.labels !== undefined && { labels: { ...filter.labels } }) },
});
