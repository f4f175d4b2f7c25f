import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import { cursorSchema, encodeCursor } from "../wire/pagination.ts";
import { problemResponses, redeliveryCodes } from "../wire/problem.ts";
import { emptyBody, noQuery } from "../wire/request-schemas.ts";
import { redeliverySchema } from "./describe-callback.ts";
import { deliverySchema, describeDelivery, webhookParams } from "./describe-delivery.ts";

const deliveryParams = webhookParams.extend({ deliveryId: z.string().describe("Id of the delivery.") });

const redeliveryBody = z
  .strictObject({ cursor: cursorSchema.optional().describe("`nextCursor` of the previous request.") })
  .meta({ id: "WebhookRedeliveryRequest", override: { examples: [{}] } })
  .optional();

/** The redelivery of all dead deliveries of a webhook, and of one. */
export const webhookRedeliveryRoutes: FastifyPluginAsyncZodOpenApi<{ webhooks: Webhooks }> = async (app, { webhooks }) => {
  app.post(
    "/api/v2/webhooks/:name/redeliver",
    {
      config: { scope: "dispatch" },
      schema: {
        operationId: "redeliverWebhookDeliveries",
        tags: ["webhooks"],
        summary: "Redeliver all dead deliveries of a webhook",
        description:
          "Starts a new round of attempts for the dead deliveries. A request examines at most 1,000 of them, the newest first. Repeat it with `cursor` until `nextCursor` is null.",
        params: webhookParams,
        querystring: noQuery,
        body: redeliveryBody,
        response: {
          202: { description: "How many deliveries are pending again.", content: { "application/json": { schema: redeliverySchema } } },
          ...problemResponses(...redeliveryCodes, "not_found"),
        },
      },
    },
    async (request, reply) => {
      const { redelivered, next } = await webhooks.redeliverAll(
        request.principal.tenant,
        request.params.name,
        request.body?.cursor ?? null,
      );
      return reply.code(202).send({ redelivered, nextCursor: next === null ? null : encodeCursor(next) });
    },
  );

  app.post(
    "/api/v2/webhooks/:name/deliveries/:deliveryId/redeliver",
    {
      config: { scope: "dispatch" },
      schema: {
        operationId: "redeliverWebhook",
        tags: ["webhooks"],
        summary: "Redeliver a dead delivery",
        description: "Starts a new round of attempts with the same `webhook-id` and body.",
        params: deliveryParams,
        querystring: noQuery,
        body: emptyBody,
        response: {
          202: { description: "The delivery, pending again.", content: { "application/json": { schema: deliverySchema } } },
          ...problemResponses(...redeliveryCodes, "not_found", "invalid_state", "already_delivered"),
        },
      },
    },
    async (request, reply) => {
      const { name, deliveryId } = request.params;
      const delivery = await webhooks.redeliver(request.principal.tenant, name, deliveryId);
      return reply.code(202).send(describeDelivery(delivery));
    },
  );
};
