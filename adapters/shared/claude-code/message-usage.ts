import { z } from "zod";
import type { NormalizedUsage, UsageReport } from "#contract";

const count = z.number().int().nonnegative();
/** The counts of the Messages API. The input counts do not overlap. */
const usageSchema = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count.nullable(),
    cache_creation_input_tokens: count.nullable(),
    cache_creation: z.object({ ephemeral_1h_input_tokens: count }).nullable().catch(null),
    output_tokens_details: z.object({ thinking_tokens: count }).nullable().catch(null),
  })
  .partial();

/** The usage of a message at its start or at its end. Another version may report other counts. */
export const messageUsageSchema = usageSchema.optional().catch(undefined);
type MessageUsage = z.infer<typeof usageSchema>;

/** A part of the stream of a message. */
export interface UsagePart {
  type: string;
  message?: { id: string; model?: string | undefined; usage?: MessageUsage | undefined } | undefined;
  usage?: MessageUsage | undefined;
}

/**
 * Creates the meter of the streamed messages of a task. Each message is one call of the model. Its counts are complete at its end, or when
 * its stream breaks and the next one begins.
 */
export function createMessageMeter() {
  /** The messages that are streamed, by the tool call of their sub-agent; the main agent has none. */
  const open = new Map<string | null, { model: string | undefined; usage: MessageUsage }>();
  const streamedIds = new Set<string>();
  let isPartial = false;

  function end(agent: string | null): UsageReport[] {
    const message = open.get(agent);
    open.delete(agent);
    const usage = message === undefined ? undefined : normalize(message.usage);
    if (usage === undefined) return [];
    return [{ ...(message?.model !== undefined && { model: message.model }), usage }];
  }

  return {
    /** Reads a part of a stream and returns the reports that it completes. */
    read(agent: string | null, { type, message, usage = {} }: UsagePart): UsageReport[] {
      if (type === "message_start" && message !== undefined) {
        const broken = end(agent);
        streamedIds.add(message.id);
        open.set(agent, { model: message.model, usage: message.usage ?? {} });
        return broken;
      }
      const current = open.get(agent);
      if (current !== undefined) current.usage = { ...current.usage, ...usage };
      return type === "message_stop" ? end(agent) : [];
    },
    /** Reads the id of a complete message. One that was not streamed, such as that of a sub-agent, has no reliable counts. */
    readComplete(id: string): UsageReport[] {
      const hasReports = streamedIds.size > 0;
      if (isPartial || !hasReports || streamedIds.has(id)) return [];
      isPartial = true;
      return [{ usage: { inputTokens: 0, outputTokens: 0 }, partial: true }];
    },
  };
}

function normalize(usage: MessageUsage): NormalizedUsage | undefined {
  const { input_tokens: uncached, output_tokens: outputTokens } = usage;
  if (uncached === undefined || outputTokens === undefined) return undefined;
  const cacheReadTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  const thinkingTokens = usage.output_tokens_details?.thinking_tokens;
  const cacheWrite1hTokens = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  return {
    ...{ inputTokens: uncached + cacheReadTokens + cacheWriteTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
    ...(thinkingTokens !== undefined && { thinkingTokens }),
    ...(cacheWrite1hTokens > 0 && { cacheWrite1hTokens }),
  };
}
