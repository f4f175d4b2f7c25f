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
/** What is known of one tool call; agents tell it in pieces, and each tells other ones. */
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
/** An update of a session that matters to a task. */
export type AcpUpdate = z.infer<typeof updateSchema>;

/** Reads an update; null for kinds that do not matter here, and for what no agent should send. */
export function readUpdate(update: unknown): AcpUpdate | null {
  return updateSchema.safeParse(update).data ?? null;
}

/** Reads a tool call as it stands in a permission request. */
export function readToolCall(toolCall: unknown): AcpToolCall | null {
  return toolCallSchema.safeParse(toolCall).data ?? null;
}
