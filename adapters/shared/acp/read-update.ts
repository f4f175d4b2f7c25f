import { z } from "zod";
import { measureBase64 } from "../agent-program/describe-media.ts";

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

const textSchema = z.object({ type: z.literal("text"), text: z.string() });
const mediaSchema = z
  .object({ type: z.enum(["image", "audio"]), data: z.string(), mimeType: z.string() })
  .transform(({ type, data, mimeType }) => ({ text: `[${type} of ${measureBase64(data)} bytes (${mimeType})]` }));
const linkSchema = z
  .object({ type: z.literal("resource_link"), uri: z.string(), name: z.string().default("file") })
  .transform(({ uri, name }) => ({ text: `[${name}](${uri})` }));
const resourceSchema = z
  .object({ type: z.literal("resource"), resource: z.object({ uri: z.string(), text: z.string().optional() }) })
  .transform(({ resource: { uri, text } }) => ({ text: text ?? `[file](${uri})` }));
/** A part of an answer. An answer is text, so other content becomes a short text. */
const contentSchema = z.union([textSchema, mediaSchema, linkSchema, resourceSchema]);

const updateSchema = z.discriminatedUnion("sessionUpdate", [
  z.object({
    sessionUpdate: z.literal("agent_message_chunk"),
    messageId: z.string().nullish(),
    content: contentSchema,
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
