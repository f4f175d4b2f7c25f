import { z } from "zod";
import type { NormalizedUsage, UsageReport } from "#contract";
import type { ConnectionResult } from "../shared/agent-program/agent-program.ts";

const count = z.number().nonnegative();
/** The end of a model call. Its counts do not overlap. */
export const stepFinishSchema = z.object({
  id: z.string(),
  type: z.literal("step-finish"),
  reason: z.string(),
  // Another version may report other counts, but its finish reason is still valid.
  cost: count.nullable().catch(null),
  tokens: z
    .object({ input: count, output: count, reasoning: count, cache: z.object({ read: count, write: count }) })
    .nullable()
    .catch(null),
});
export type StepFinish = z.infer<typeof stepFinishSchema>;

/**
 * Adds up the usage of one task's model calls, and reports each of them. If the model's price is not configured, a cost of 0 means that the
 * cost is unknown.
 */
export function createTally({ isPriced, report = () => {} }: { isPriced: boolean; report?(data: UsageReport): void }) {
  const countedIds = new Set<string>();
  const usage = { inputTokens: 0, outputTokens: 0, thinkingTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  let costUsd = 0;
  let isComplete = true;
  const isKnown = (cost: number): boolean => cost > 0 || isPriced;

  function markIncomplete(): void {
    if (isComplete) report({ usage: { inputTokens: 0, outputTokens: 0 }, partial: true });
    isComplete = false;
  }

  return {
    add({ id, tokens, cost }: StepFinish): void {
      if (countedIds.has(id)) return;
      countedIds.add(id);
      if (tokens === null || cost === null) {
        markIncomplete();
        return;
      }
      const call = {
        inputTokens: tokens.input + tokens.cache.read + tokens.cache.write,
        outputTokens: tokens.output + tokens.reasoning,
        thinkingTokens: tokens.reasoning,
        cacheReadTokens: tokens.cache.read,
        cacheWriteTokens: tokens.cache.write,
      };
      for (const [name, count] of Object.entries(call)) usage[name as keyof typeof usage] += count;
      costUsd += cost;
      report({ usage: call, ...(isKnown(cost) && { costUsd: cost }) });
    },
    /** Marks the usage as unknown, because OpenCode does not report all of it. */
    markIncomplete,
    /** Returns usage and cost so far; empty if they are unknown. */
    getFacts(): Pick<ConnectionResult, "costUsd"> & { usage?: NormalizedUsage } {
      if (countedIds.size === 0 || !isComplete) return {};
      return { usage: { ...usage }, ...(isKnown(costUsd) ? { costUsd } : {}) };
    },
  };
}
export type Tally = ReturnType<typeof createTally>;
