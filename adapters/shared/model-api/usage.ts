import type { LanguageModelUsage } from "ai";
import type { NormalizedUsage } from "#contract";

/** What one call of a model has used; undefined when the endpoint tells nothing that could be. A part of nothing may mean that nothing was told of it. */
export function usageOf({
  inputTokens,
  outputTokens,
  inputTokenDetails,
  outputTokenDetails,
}: LanguageModelUsage): NormalizedUsage | undefined {
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  const parts = {
    thinkingTokens: outputTokenDetails?.reasoningTokens,
    cacheReadTokens: inputTokenDetails?.cacheReadTokens,
    cacheWriteTokens: inputTokenDetails?.cacheWriteTokens,
  };
  const known = Object.entries(parts).filter(([, count]) => isCount(count) && count > 0);
  return { inputTokens, outputTokens, ...(Object.fromEntries(known) as Partial<NormalizedUsage>) };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const parts = ["thinkingTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

/** The sum of several calls; not known when one of them is not. */
export function sumUsage(calls: readonly (NormalizedUsage | undefined)[]): NormalizedUsage | undefined {
  const known = calls.filter((call) => call !== undefined);
  if (known.length === 0 || known.length < calls.length) return undefined;
  const total = (count: (call: NormalizedUsage) => number): number => known.reduce((sum, call) => sum + count(call), 0);
  const told = parts.filter((part) => known.some((call) => call[part] !== undefined));
  return {
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    ...Object.fromEntries(told.map((part) => [part, total((call) => call[part] ?? 0)])),
  };
}
