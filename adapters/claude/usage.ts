import { z } from "zod";
import type { NormalizedUsage } from "#contract";

const count = z.number().nonnegative();
const usageSchema = z.object({ inputTokens: count, outputTokens: count, cachedReadTokens: count, cachedWriteTokens: count });
/** In the counts of one model, one field has another name. */
const rowSchema = z
  .object({ inputTokens: count, outputTokens: count, cachedInputTokens: count, cachedWriteTokens: count })
  .transform(({ cachedInputTokens, ...rest }) => ({ ...rest, cachedReadTokens: cachedInputTokens }));
type Counts = z.infer<typeof usageSchema>;

const responseSchema = z.object({
  usage: usageSchema.nullish(),
  _meta: z
    .object({ quota: z.object({ model_usage: z.array(z.object({ model: z.string(), token_count: rowSchema })) }) })
    .nullish()
    .catch(null),
});

/** Usage of one turn. */
export interface TurnUsage {
  usage?: NormalizedUsage;
  /** Absent if the turn used several models. */
  model?: string;
}

/**
 * Reads the usage from a prompt response. The field `usage` excludes sub-agents; the rows per model include them, except in the first turn
 * of a resumed session. Input and cache counts do not overlap. Claude Code does not report thinking tokens here.
 */
export function readTurnUsage(response: unknown): TurnUsage {
  const { usage, _meta } = responseSchema.safeParse(response).data ?? {};
  const rows = _meta?.quota.model_usage ?? [];
  const counts = rows.length > 0 ? rows.map((row) => row.token_count) : usage ? [usage] : [];
  if (counts.length === 0) return {};
  const sum = (read: (count: Counts) => number): number => counts.reduce((total, count) => total + read(count), 0);
  const cacheReadTokens = sum((count) => count.cachedReadTokens);
  const cacheWriteTokens = sum((count) => count.cachedWriteTokens);
  return {
    usage: {
      inputTokens: sum((count) => count.inputTokens) + cacheReadTokens + cacheWriteTokens,
      outputTokens: sum((count) => count.outputTokens),
      cacheReadTokens,
      cacheWriteTokens,
    },
    ...(rows.length === 1 && rows[0] !== undefined && { model: rows[0].model }),
  };
}
