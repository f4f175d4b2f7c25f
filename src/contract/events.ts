import { z } from "zod";

const fields = {
  "assistant.text": z.object({ content: z.string() }),
  "assistant.text_discarded": z.object({ reason: z.string().optional() }),
  "tool.invoked": z.object({ toolCallId: z.string(), toolName: z.string(), input: z.unknown() }),
  "tool.completed": z.object({ toolCallId: z.string(), toolName: z.string(), output: z.unknown(), isError: z.boolean() }),
  "execution.progress": z.record(z.string(), z.unknown()),
};

/** The kinds of event an adapter may emit; the start and the end of a task are Bridge's to tell. */
export const adapterEventTypes = [
  "assistant.text",
  "assistant.text_discarded",
  "tool.invoked",
  "tool.completed",
  "execution.progress",
] as const;
export type AdapterEventType = (typeof adapterEventTypes)[number];

/** Every kind of event on the wire, in the order a task meets them. */
export const eventTypes = [
  "execution.started",
  ...adapterEventTypes,
  "tool.approval_requested",
  "tool.approval_resolved",
  "execution.completed",
  "execution.failed",
  "callback.delivered",
  "callback.dead",
] as const;
export type EventType = (typeof eventTypes)[number];

/** Schema of an event's data, by type: what Bridge accepts from an adapter. */
export const adapterEventData: { readonly [T in AdapterEventType]: (typeof fields)[T] } = fields;

/**
 * What an adapter emits while it executes. `assistant.text` is a delta; `assistant.text_discarded` withdraws the text since the last tool event,
 * or since the last discard; the rest is whole.
 */
export type AdapterEvent = {
  [T in AdapterEventType]: { type: T; taskId: string; data: z.infer<(typeof fields)[T]> };
}[AdapterEventType];

/** Receives an adapter's events, in the order in which they happen. Must not throw. */
export type ExecutionEventListener = (event: AdapterEvent) => void;

/** One line of a task's story as clients see it. */
export const eventEnvelopeSchema = z.object({
  id: z.string().describe("`<epoch>-<number>`; the number is gapless over the whole log."),
  type: z.enum(eventTypes),
  taskId: z.string(),
  parentTaskId: z.string().optional(),
  agentId: z.string(),
  provider: z.string(),
  timestamp: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});
export type EventEnvelope = z.infer<typeof eventEnvelopeSchema>;
