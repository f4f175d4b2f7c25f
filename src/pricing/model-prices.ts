import { z } from "zod";
import type { NormalizedUsage } from "#contract";

const price = z.number().nonnegative();

/** Prices in US dollars per million tokens, by model. Cache prices default to `input`. */
export const modelPricesSchema = z.record(
  z.string(),
  z.strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() }),
);
export type ModelPrices = z.infer<typeof modelPricesSchema>;

/** Calculates the cost of tokens in US dollars from the row of one of these names, the first one that has a row; null without a row. */
export function priceByRow(prices: ModelPrices, names: readonly string[], usage: NormalizedUsage): number | null {
  const model = names.find((name) => Object.hasOwn(prices, name));
  const row = model === undefined ? undefined : prices[model];
  if (row === undefined) return null;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const uncachedTokens = Math.max(inputTokens - cacheReadTokens - cacheWriteTokens, 0);
  const { input, output, cacheRead = input, cacheWrite = input } = row;
  return (uncachedTokens * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) / 1_000_000;
}
