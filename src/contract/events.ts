import { z } from "zod";
import { normalizedUsageSchema } from "./execution.ts";
import { jsonObjectSchema } from "./json-object.ts";
import { modelCallSchema } from "./spending.ts";

const fields = {
  "assistant.text": z.object({ content: z.string() }),
  "assistant.text_discarded": z.object({ reason: z.string().optional() }),
  "tool.invoked": z.object({ toolCallId: z.string(), toolName: z.string(), input: z.unknown() }),
  "tool.completed": z.object({ toolCallId: z.string(), toolName: z.string(), output: z.unknown(), isError: z.boolean() }),
  "execution.progress": jsonObjectSchema,
  "usage.reported": z.object({
    model: z.string().optional(),
    /** The name by which the caller asked for the model, if it differs. */
    requestedModel: z.string().optional(),
    usage: normalizedUsageSchema,
    costUsd: z.number().nonnegative().optional(),
    call: modelCallSchema.optional(),
    /** Whether the runtime used models without a report, so that the sum of the reports is not the usage of the task. */
    partial: z.boolean().optional(),
    /** The largest usage that the call can have, if its response broke off. It counts for the maximum of a budget. */
    atMost: normalizedUsageSchema.optional(),
  }),
};

/** The types of events that an adapter may emit. Bridge itself emits the start and the end of a task. */
export const adapterEventTypes = [
  "assistant.text",
  "assistant.text_discarded",
  "tool.invoked",
  "tool.completed",
  "execution.progress",
  "usage.reported",
] as const;
export type AdapterEventType = (typeof adapterEventTypes)[number];

/** All types of events, in the order in which a task emits them. */
export const eventTypes = [
  "execution.started",
  "execution.attempt",
  ...adapterEventTypes,
  "budget.warning",
  "tool.approval_requested",
  "tool.approval_resolved",
  "execution.completed",
  "execution.failed",
  "callback.delivered",
  "callback.dead",
] as const;
export type EventType = (typeof eventTypes)[number];

/** The schemas of the data that Bridge accepts from an adapter, by the type of the event. */
export const adapterEventData: { readonly [T in AdapterEventType]: (typeof fields)[T] } = fields;

/**
 * An event that an adapter emits during a task. `assistant.text` is a delta. `assistant.text_discarded` withdraws the text since the last
 * tool event, or since the last discard. `usage.reported` is what one call or step has used, not a total; `costUsd` is the runtime's own
 * figure. Reports with `call` are complete: their sum is the usage of the task.
 */
export type AdapterEvent = {
  [T in AdapterEventType]: { type: T; taskId: string; data: z.infer<(typeof fields)[T]> };
}[AdapterEventType];

/** What an adapter reports about one call of a model, or about one step. */
export type UsageReport = z.infer<(typeof fields)["usage.reported"]>;

/** One call of a model in `usage.reported`, as Bridge stores it. */
export const pricedCallSchema = modelCallSchema.extend({
  model: z.string().nullable(),
  usage: normalizedUsageSchema.nullable(),
  costUsd: z.number().nonnegative().nullable(),
});
export type PricedCall = z.infer<typeof pricedCallSchema>;

/** Receives the events of an adapter in their order. Must not throw. */
export type ExecutionEventListener = (event: AdapterEvent) => void;

/** One event of a task, as clients receive it. */
export const eventEnvelopeSchema = z.object({
  id: z.string().describe("`<epoch>-<number>`; numbers increase over the whole log and are never reused."),
  type: z.enum(eventTypes),
  taskId: z.string(),
  parentTaskId: z.string().optional(),
  agentId: z.string(),
  provider: z.string(),
  timestamp: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});
export type EventEnvelope = z.infer<typeof eventEnvelopeSchema>;
