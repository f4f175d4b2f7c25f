import { z } from "zod";
import type { NormalizedUsage } from "#contract";

const price = z.number().nonnegative();

/** US dollars for a million tokens, by model; what is not named for the cache costs as much as any other input. */
export const modelPricesSchema = z.record(
  z.string(),
  z.strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() }),
);
export type ModelPrices = z.infer<typeof modelPricesSchema>;

/** What a task has cost by the table: the first of these names that stands in it counts; undefined when none does. */
export function costOf(prices: ModelPrices, models: readonly (string | undefined)[], usage: NormalizedUsage): number | undefined {
  const model = models.find((name) => name !== undefined && Object.hasOwn(prices, name));
  const row = model === undefined ? undefined : prices[model];
  if (row === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const fresh = Math.max(inputTokens - cacheReadTokens - cacheWriteTokens, 0);
  const { input, output, cacheRead = input, cacheWrite = input } = row;
  return (fresh * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) / 1_000_000;
}
