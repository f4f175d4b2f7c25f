import { z } from "zod";
import { resultSchema } from "../wire/result-schema.ts";
import { timestamp } from "../wire/timestamps.ts";

/** The body of a callback. */
export const callbackBodySchema = resultSchema
  .extend({
    taskId: z.string(),
    agentId: z.string(),
    provider: z.string(),
    metadata: z.record(z.string(), z.unknown()).nullable().describe("The metadata of the dispatch."),
    finishedAt: timestamp,
  })
  .meta({
    id: "CallbackBody",
    description: "The result of a task, as Bridge posts it to the `callbackUrl` of the dispatch.",
    examples: [
      {
        taskId: "report-7",
        agentId: "auditor",
        provider: "command",
        status: "ok",
        output: "BRIDGE occurs 12 times.",
        durationMs: 812,
        connection: "cli",
        metadata: null,
        finishedAt: "2026-11-22T09:30:00.812Z",
      },
    ],
  });

const describeHeader = (name: string, description: string, required: boolean) => ({
  in: "header" as const,
  name,
  description,
  required,
  schema: { type: "string" as const },
});

/** The requests that Bridge sends. */
export const webhooks = {
  taskEnded: {
    post: {
      operationId: "taskEnded",
      tags: ["callbacks"],
      summary: "Receive the result of a task",
      description:
        "Bridge posts the result to the `callbackUrl` of the dispatch when the task ends. The signature follows Standard Webhooks. A callback can arrive more than once: ignore a `webhook-id` that you have processed.",
      security: [],
      parameters: [
        describeHeader("webhook-id", "Id of the callback, the same for every attempt.", true),
        describeHeader(
          "webhook-timestamp",
          "Time of this attempt in seconds since the epoch. Reject timestamps that differ from your clock by more than five minutes.",
          true,
        ),
        describeHeader(
          "webhook-signature",
          "`v1,<base64>` for each secret, separated by spaces: HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`. Missing if BRIDGE_CALLBACK_SECRETS is not set.",
          false,
        ),
        describeHeader("idempotency-key", "The `taskId`.", true),
        describeHeader("traceparent", "W3C trace context of the dispatch, if it had one.", false),
        describeHeader("tracestate", "Belongs to `traceparent`, if the dispatch had one.", false),
        describeHeader("user-agent", "`bridge/<version>`.", true),
      ],
      requestBody: { required: true, content: { "application/json": { schema: { $ref: "#/components/schemas/CallbackBody" } } } },
      responses: {
        "2XX": { description: "Accepted. Bridge does not post this result again." },
        "410": { description: "Rejected permanently. Bridge does not retry." },
        default: { description: "The attempt failed. Bridge retries on its schedule; `Retry-After` can delay the next attempt." },
      },
    },
  },
};
