import { z } from "zod";
import {
  adapterEventData,
  connections,
  costSources,
  type EventType,
  eventEnvelopeSchema,
  eventTypes,
  normalizedUsageSchema,
  pricedCallSchema,
} from "#contract";
import { approvalKindSchema } from "../wire/approval-kind.ts";
import { errorCodeSchema } from "../wire/result-schema.ts";
import { timestamp } from "../wire/timestamps.ts";

const call = { toolCallId: z.string().describe("The runtime's id of the call, unique within its task."), toolName: z.string() };
const input = z.unknown().optional();
const spent = {
  usage: normalizedUsageSchema.optional(),
  costUsd: z.number().nonnegative().optional(),
  costSource: z.enum(costSources).optional(),
  durationMs: z.number().nonnegative(),
  connection: z.enum(connections).optional().describe("How Bridge reached the runtime. Absent in events of earlier versions."),
};
const reported = {
  usage: normalizedUsageSchema.nullable(),
  costUsd: z.number().nonnegative().nullable(),
  costSource: z.enum(costSources).nullable(),
};
const count = z.number().int();
const truncated = z
  .boolean()
  .optional()
  .describe("The data was larger than 256 KiB. Long strings are cut; large fields contain the beginning of their JSON text.");

/** Description and data of each event type. */
const kinds = {
  "execution.started": { description: "The first event of a task.", data: z.object({ agentId: z.string() }) },
  "execution.attempt": {
    description: "An attempt of the task has failed, or a candidate was skipped. Further candidates follow.",
    data: z.object({
      number: count,
      provider: z.string(),
      model: z.string().nullable(),
      errorCode: errorCodeSchema.nullable().describe("Null if the candidate was skipped."),
      reason: z.string().nullable(),
      next: z.object({ provider: z.string(), model: z.string().nullable() }).nullable(),
    }),
  },
  "assistant.text": { description: "The next part of the answer.", data: adapterEventData["assistant.text"] },
  "assistant.text_discarded": {
    description:
      "The runtime has discarded the text since the last tool event or the last discard, for example because the stream broke. Readers that display the text must remove it.",
    data: adapterEventData["assistant.text_discarded"],
  },
  "tool.invoked": { description: "The runtime calls a tool.", data: z.object({ ...call, input }) },
  "tool.completed": { description: "A tool call ended.", data: z.object({ ...call, output: input, isError: z.boolean() }) },
  "execution.progress": {
    description: "Any other report of the runtime. `restarted` is true if the task continued after an interruption.",
    data: adapterEventData["execution.progress"],
  },
  "usage.reported": {
    description: "What the runtime has used since the last report, and the total of the task so far.",
    data: z.object({
      model: z.string().nullable().describe("Null if it is unknown, or if there were several."),
      ...reported,
      usage: normalizedUsageSchema,
      total: z.object(reported).describe("What the task has spent so far, without its child tasks."),
      calls: z
        .array(pricedCallSchema)
        .optional()
        .describe("The calls of the model, if Bridge saw each of them. `startedAt` is in milliseconds since the epoch."),
    }),
  },
  "budget.warning": {
    description: "The task has raised what is spent of a budget to one of its thresholds. Once per threshold and period.",
    data: z.object({
      budget: z.string(),
      share: z.number().describe("The threshold, as a share of the maximum: 0.8 is 80 %."),
      spentUsd: z.number(),
      maxCostUsd: z.number().nullable(),
      spentTokens: count,
      maxTokens: count.nullable(),
    }),
  },
  "tool.approval_requested": {
    description: "A tool call, or a task at the maximum of its budget, waits for an approval.",
    data: z.object({ approvalId: z.string(), kind: approvalKindSchema.optional(), ...call, input, expiresAt: timestamp.nullable() }),
  },
  "tool.approval_resolved": {
    description: "An approval was decided.",
    data: z.object({
      approvalId: z.string(),
      kind: approvalKindSchema.optional(),
      toolCallId: call.toolCallId,
      decision: z.enum(["approve", "reject"]),
      by: z.string().describe("Name of the token; `bridge` if the approval expired or the task ended."),
      reason: z.string().nullable(),
      raiseByUsd: z
        .number()
        .nullable()
        .optional()
        .describe("By how many US dollars the maximum has grown; null if it has not. Absent for tool calls."),
    }),
  },
  "execution.completed": {
    description: "The last event of a task that succeeded.",
    data: z.object({
      output: z.string().nullable(),
      outputs: z
        .union([z.record(z.string(), z.unknown()), z.string()])
        .optional()
        .describe("A string only if the data is truncated."),
      model: z.string().optional(),
      ...spent,
    }),
  },
  "execution.failed": {
    description: "The last event of a task that failed or was canceled.",
    data: z.object({ error: z.string(), errorCode: errorCodeSchema.optional(), ...spent }),
  },
  "callback.delivered": {
    description: "The receiver accepted the callback of the task.",
    data: z.object({ attempts: count, status: count.nullable() }),
  },
  "callback.dead": {
    description: "The callback of the task has no retries left.",
    data: z.object({ attempts: count, lastStatus: count.nullable(), lastError: z.string().nullable() }),
  },
} satisfies Record<EventType, { description: string; data: z.ZodType }>;

const events = eventTypes.map((type) => {
  const { description, data } = kinds[type];
  return eventEnvelopeSchema
    .extend({ type: z.literal(type), timestamp: timestamp, data: data instanceof z.ZodObject ? data.extend({ truncated }) : data })
    .meta({ id: `${toPascalCase(type)}Event`, description });
});

/** An event of a task as clients receive it. */
export const eventSchema = z.discriminatedUnion("type", events as [(typeof events)[number], ...typeof events]).meta({
  id: "Event",
  description: "An event of a task; `type` determines the form of `data`. Later versions can add types: ignore unknown ones.",
  examples: [
    {
      id: "9f2c41d07a-12",
      type: "assistant.text",
      taskId: "report-7",
      agentId: "auditor",
      provider: "command",
      timestamp: "2026-11-22T09:30:00.000Z",
      data: { content: "Reading " },
    },
  ],
});

const gapSchema = z.object({ oldestId: z.string().nullable() }).meta({
  id: "StreamGap",
  description:
    "Data of `event: stream.gap`: the requested events are deleted or unknown. The stream continues with the oldest stored event.",
});
const closingSchema = z.object({ reason: z.string().describe("`shutdown`, `token_expired` or `token_withdrawn`.") }).meta({
  id: "StreamClosing",
  description: "Data of `event: stream.closing`: Bridge ends the stream. Reconnect later, or with another token.",
});

/** The data of one message of an event stream: an event, or one of the two messages about the stream itself, which have no id. */
export const streamMessageSchema = z.union([eventSchema, gapSchema, closingSchema]).meta({
  id: "StreamMessage",
  description: "The `data` of one server-sent event, as JSON. `event` is the type of the event, `stream.gap` or `stream.closing`.",
});

function toPascalCase(type: string): string {
  return type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
