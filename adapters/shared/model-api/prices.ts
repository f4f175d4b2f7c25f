import { z } from "zod";
import type { NormalizedUsage } from "#contract";

const price = z.number().nonnegative();

/** Prices in US dollars per million tokens, by model. Cache prices default to `input`. */
export const modelPricesSchema = z.record(
  z.string(),
  z.strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() }),
);
export type ModelPrices = z.infer<typeof modelPricesSchema>;

/** Calculates the cost of a task in US dollars. Uses the prices of the first of these models that has prices; undefined if none has. */
export function calculateCost(prices: ModelPrices, models: readonly (string | undefined)[], usage: NormalizedUsage): number | undefined {
  const model = models.find((name) => name !== undefined && Object.hasOwn(prices, name));
  const row = model === undefined ? undefined : prices[model];
  if (row === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const uncachedTokens = Math.max(inputTokens - cacheReadTokens - cacheWriteTokens, 0);
  const { input, output, cacheRead = input, cacheWrite = input } = row;
  return (uncachedTokens * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) / 1_000_000;
}
