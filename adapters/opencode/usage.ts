import { z } from "zod";
import type { NormalizedUsage } from "#contract";
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

/** Adds up the usage of one task's model calls. If the model's price is not configured, a cost of 0 means that the cost is unknown. */
export function createTally({ isPriced }: { isPriced: boolean }) {
  const countedIds = new Set<string>();
  const usage = { inputTokens: 0, outputTokens: 0, thinkingTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  let costUsd = 0;
  let isComplete = true;
  return {
    add({ id, tokens, cost }: StepFinish): void {
      if (countedIds.has(id)) return;
      countedIds.add(id);
      if (tokens === null || cost === null) {
        isComplete = false;
        return;
      }
      usage.inputTokens += tokens.input + tokens.cache.read + tokens.cache.write;
      usage.outputTokens += tokens.output + tokens.reasoning;
      usage.thinkingTokens += tokens.reasoning;
      usage.cacheReadTokens += tokens.cache.read;
      usage.cacheWriteTokens += tokens.cache.write;
      costUsd += cost;
    },
    /** Marks the usage as unknown, because OpenCode does not report all of it. */
    markIncomplete(): void {
      isComplete = false;
    },
    /** Returns usage and cost so far; empty if they are unknown. */
    getFacts(): Pick<ConnectionResult, "costUsd"> & { usage?: NormalizedUsage } {
      if (countedIds.size === 0 || !isComplete) return {};
      return { usage: { ...usage }, ...(costUsd > 0 || isPriced ? { costUsd } : {}) };
    },
  };
}
export type Tally = ReturnType<typeof createTally>;
