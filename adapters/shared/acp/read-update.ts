import { z } from "zod";

const meta = z.record(z.string(), z.unknown());

const toolCallSchema = z.object({
  toolCallId: z.string(),
  name: z.string().nullish(),
  title: z.string().nullish(),
  kind: z.string().nullish(),
  status: z.string().nullish(),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  content: z.array(meta).nullish(),
  _meta: meta.nullish(),
});
/** A tool call. Agents report it in several updates, with different fields. */
export type AcpToolCall = z.infer<typeof toolCallSchema>;

const updateSchema = z.discriminatedUnion("sessionUpdate", [
  z.object({
    sessionUpdate: z.literal("agent_message_chunk"),
    messageId: z.string().nullish(),
    content: z.object({ type: z.literal("text"), text: z.string() }),
  }),
  toolCallSchema.extend({ sessionUpdate: z.literal("tool_call") }),
  toolCallSchema.extend({ sessionUpdate: z.literal("tool_call_update") }),
  z.object({ sessionUpdate: z.literal("plan"), entries: z.array(meta) }),
  z.object({
    sessionUpdate: z.literal("usage_update"),
    cost: z.object({ amount: z.number().nonnegative(), currency: z.string() }).nullish(),
  }),
]);
/** A session update that is relevant to a task. */
export type AcpUpdate = z.infer<typeof updateSchema>;

/** Parses an update; null for irrelevant kinds and invalid updates. */
export function readUpdate(update: unknown): AcpUpdate | null {
  return updateSchema.safeParse(update).data ?? null;
}

/** Parses the tool call of a permission request; null if it is invalid. */
export function readToolCall(toolCall: unknown): AcpToolCall | null {
  return toolCallSchema.safeParse(toolCall).data ?? null;
}
