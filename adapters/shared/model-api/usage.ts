import type { LanguageModelUsage } from "ai";
import type { NormalizedUsage } from "#contract";

/**
 * Returns the usage of one model call; undefined if the endpoint reports no valid counts. A count of 0 can also mean "not
 * reported", so it is omitted.
 */
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

const PARTS = ["thinkingTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

/** Adds up the usage of several model calls; undefined if one is unknown. */
export function sumUsage(calls: readonly (NormalizedUsage | undefined)[]): NormalizedUsage | undefined {
  const known = calls.filter((call) => call !== undefined);
  if (known.length === 0 || known.length < calls.length) return undefined;
  const total = (count: (call: NormalizedUsage) => number): number => known.reduce((sum, call) => sum + count(call), 0);
  const reported = PARTS.filter((part) => known.some((call) => call[part] !== undefined));
  return {
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    ...Object.fromEntries(reported.map((part) => [part, total((call) => call[part] ?? 0)])),
  };
}
