import { z } from "zod";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import { timestamp, toIso, toIsoOrNull } from "../wire/timestamps.ts";
import { callbackStateSchema } from "./describe-callback.ts";

/** Path parameters of a webhook. */
export const webhookParams = z.object({ name: z.string().describe("Name of the webhook.") });

/** Schema of a delivery. */
export const deliverySchema = z
  .strictObject({
    deliveryId: z.string().describe("The `webhook-id` of every attempt."),
    type: z.string().describe("The type of the event."),
    taskId: z.string().nullable().describe("The task that the event concerns; null if there is none."),
    state: callbackStateSchema,
    attempts: z.number().int().describe("Number of attempts, including those before a redelivery."),
    nextAttemptAt: timestamp.nullable(),
    lastStatus: z.number().int().nullable(),
    lastError: z.string().nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "WebhookDelivery", description: "The delivery of an event to a webhook." });

type Delivery = Awaited<ReturnType<Webhooks["listDeliveries"]>>[number];

/** Describes a delivery, without its body. */
export function describeDelivery(delivery: Delivery): z.infer<typeof deliverySchema> {
  const { id, type, body, state, attempts, nextAttemptAt, lastStatus, lastError, createdAt, updatedAt } = delivery;
  const { data } = JSON.parse(body) as { data: { taskId?: string } };
  return {
    ...{ deliveryId: id, type, taskId: data.taskId ?? null, state, attempts },
    nextAttemptAt: toIsoOrNull(nextAttemptAt),
    ...{ lastStatus, lastError },
    createdAt: toIso(createdAt),
    updatedAt: toIso(updatedAt),
  };
}
