import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import {
  type Attention,
  type AttentionItem,
  attentionKinds,
  FAILURE_HOURS,
  faultKinds,
  MAX_ACKNOWLEDGED,
  MAX_COUNTED,
} from "../../attention/attention.ts";
import { extensibleEnum } from "../wire/extensible-enum.ts";
import { pageQuery } from "../wire/pagination.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";
import { timeInput, timeParameter, timestamp, toIso, toIsoOrNull } from "../wire/timestamps.ts";

const count = z.number().int().nonnegative();
const kindSchema = extensibleEnum(z.enum(attentionKinds), {
  id: "AttentionKind",
  description:
    "`approval`: a tool call waits for a decision. `failure`: a task has failed. `callback`, `delivery`: no retries are left. `adapter`: it is offline.",
});
const itemSchema = z
  .strictObject({
    kind: kindSchema,
    id: z.string().describe("The approval, the task, the delivery, or the adapter."),
    at: timestamp.nullable().describe("When it arose, or the last check of an adapter. Null if that is unknown."),
    taskId: z.string().nullable(),
    agentId: z.string().nullable(),
    provider: z.string().nullable().describe("The adapter of the task, or the one that is offline."),
    title: z.string().nullable().describe("The title of the task."),
    receiver: z.string().nullable().describe("The origin of a callback, or the name of a webhook."),
    detail: z
      .string()
      .nullable()
      .describe("The tool that waits, the error code of the task, the last error, or why an adapter is offline."),
    acknowledgedBy: z.string().nullable().describe("Name of the token of the person who acknowledged it."),
    acknowledgedAt: timestamp.nullable(),
  })
  .meta({ id: "AttentionItem", description: "Something that needs a person." });
const attentionSchema = z
  .strictObject({
    data: z.array(itemSchema).describe("At most `limit` items of each kind: the oldest approvals, and the newest faults."),
    counts: z
      .strictObject({ approval: count, failure: count, callback: count, delivery: count, adapter: count })
      .describe(`The number of all items of each kind, counted up to ${MAX_COUNTED.toLocaleString("en-US")}.`),
    receivers: z
      .array(z.strictObject({ kind: z.enum(["callback", "delivery"]), receiver: z.string(), count }))
      .describe("The number of counted items of each receiver, the most first."),
  })
  .meta({ id: "Attention", description: "What needs a person, or the faults that were acknowledged." });

const acknowledgmentSchema = z
  .strictObject({
    kind: z.enum(faultKinds),
    id: z.string().min(1).max(1024).optional().describe("The task, the delivery, or the adapter."),
    receiver: z.string().min(1).max(2048).optional().describe("All faults of this origin of callbacks, or of this webhook."),
    all: z.literal(true).optional().describe("All faults of the kind."),
    until: timeParameter
      .optional()
      .describe("With `receiver` or `all`: only faults that arose until this time, for example when you read the list.")
      .meta(timeInput),
  })
  .superRefine(({ kind, id, receiver, all, until }, context) => {
    const reject = (name: string, message: string): void => context.addIssue({ code: "custom", path: [name], message });
    if ([id, receiver, all].filter((value) => value !== undefined).length !== 1)
      reject("id", "or `receiver`, or `all` is needed: send exactly one of them");
    else if (receiver !== undefined && kind !== "callback" && kind !== "delivery")
      reject("receiver", `is not possible for the kind \`${kind}\`; send \`id\` or \`all\``);
    else if (until !== undefined && (id !== undefined || kind === "adapter"))
      reject("until", "is possible only with `receiver` or `all`, and not for adapters");
  })
  .meta({ id: "AcknowledgementRequest", override: { examples: [{ kind: "callback", id: "build-77" }] } });
const acknowledgedSchema = z
  .strictObject({
    acknowledged: count.describe("Number of faults that this request has acknowledged."),
    hasMore: z.boolean().describe("Whether more faults may be left: repeat the request."),
  })
  .meta({ id: "Acknowledged" });

/** `GET /api/v2/attention` and `POST /api/v2/attention/acknowledge`. */
export const attentionRoutes: FastifyPluginAsyncZodOpenApi<{ attention: Attention }> = async (app, { attention }) => {
  app.get(
    "/api/v2/attention",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listAttention",
        tags: ["attention"],
        summary: "List what needs a person",
        description:
          `Waiting approvals, tasks that failed in the last ${FAILURE_HOURS} hours, dead callbacks, dead deliveries to webhooks, and offline adapters, ` +
          "except for faults that a person has acknowledged. Child tasks and the probes of `brg doctor` are left out.",
        querystring: z.strictObject({
          limit: pageQuery.limit.describe("Maximum items of each kind."),
          acknowledged: z
            .enum(["true", "false"])
            .default("false")
            .transform((text) => text === "true")
            .describe("`true`: list the faults that were acknowledged and still exist instead.")
            .meta({
              override: ({ jsonSchema }) => {
                delete jsonSchema.enum;
                Object.assign(jsonSchema, { type: "boolean", default: false });
              },
            }),
        }),
        response: {
          200: { description: "The items.", content: { "application/json": { schema: attentionSchema } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async ({ principal, query: { limit, acknowledged } }) => {
      const { items, counts, receivers } = await attention.list(principal.tenant, { isAcknowledged: acknowledged, limit });
      return { data: items.map(describeItem), counts, receivers };
    },
  );

  app.post(
    "/api/v2/attention/acknowledge",
    {
      config: { scope: "dispatch" },
      schema: {
        operationId: "acknowledgeFaults",
        tags: ["attention"],
        summary: "Acknowledge faults",
        description:
          "Removes one fault, those of a receiver, or all of a kind from the list, for everybody in your tenant. A new fault is listed again: " +
          `a callback or delivery that dies after a redelivery, or an adapter that goes offline after it was available. A request acknowledges at most ${MAX_ACKNOWLEDGED.toLocaleString("en-US")} faults.`,
        querystring: noQuery,
        body: acknowledgmentSchema,
        response: {
          200: { description: "How many faults are acknowledged.", content: { "application/json": { schema: acknowledgedSchema } } },
          ...problemResponses(
            ...bodyErrorCodes,
            "unauthenticated",
            "scope_missing",
            "not_found",
            "too_many_requests",
            "storage_unavailable",
          ),
        },
      },
    },
    async ({ principal, body: { kind, id, receiver, until } }) =>
      attention.acknowledge({ tenant: principal.tenant, kind, id, receiver, until }, principal.name),
  );
};

const describeItem = ({ kind, id, at, task, title, receiver, detail, acknowledgement }: AttentionItem): z.infer<typeof itemSchema> => ({
  ...{ kind, id, at: toIsoOrNull(at) },
  taskId: task?.taskId ?? null,
  agentId: task?.agentId ?? null,
  provider: kind === "adapter" ? id : (task?.provider ?? null),
  ...{ title, receiver, detail },
  acknowledgedBy: acknowledgement?.by ?? null,
  acknowledgedAt: acknowledgement === null ? null : toIso(acknowledgement.at),
});
