import type { LanguageModelUsage } from "ai";
import type { NormalizedUsage } from "#contract";

/** What one call of a model has used; undefined when the endpoint does not tell. */
export function usageOf({
  inputTokens,
  outputTokens,
  inputTokenDetails,
  outputTokenDetails,
}: LanguageModelUsage): NormalizedUsage | undefined {
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const parts = {
    thinkingTokens: outputTokenDetails?.reasoningTokens,
    cacheReadTokens: inputTokenDetails?.cacheReadTokens,
    cacheWriteTokens: inputTokenDetails?.cacheWriteTokens,
  };
  const known = Object.entries(parts).filter(([, count]) => count !== undefined);
  return { inputTokens, outputTokens, ...(Object.fromEntries(known) as Partial<NormalizedUsage>) };
}

const parts = ["thinkingTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

/** The sum of several calls; a part that only some of them tell of is not known as a whole. */
export function sumUsage(calls: readonly (NormalizedUsage | undefined)[]): NormalizedUsage | undefined {
  const known = calls.filter((call) => call !== undefined);
  if (known.length === 0 || known.length < calls.length) return undefined;
  const total = (count: (call: NormalizedUsage) => number): number => known.reduce((sum, call) => sum + count(call), 0);
  const told = parts.filter((part) => known.every((call) => call[part] !== undefined));
  return {
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    ...Object.fromEntries(told.map((part) => [part, total((call) => call[part] ?? 0)])),
  };
}
