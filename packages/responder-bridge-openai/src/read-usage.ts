import type { GenerateUsage } from "@hak2i/responder-bridge";

/** Returns the token usage of a completion; undefined when the API does not report it. */
export function readUsage(answer: unknown): GenerateUsage | undefined {
  const usage = fieldsOf(fieldsOf(answer)["usage"]);
  const inputTokens = readCount(usage, "prompt_tokens");
  const outputTokens = readCount(usage, "completion_tokens");
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const thinkingTokens = readCount(fieldsOf(usage["completion_tokens_details"]), "reasoning_tokens");
  const cacheReadTokens = readCount(fieldsOf(usage["prompt_tokens_details"]), "cached_tokens");
  return {
    inputTokens,
    outputTokens,
    ...(thinkingTokens !== undefined && { thinkingTokens }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
  };
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

function readCount(fields: Record<string, unknown>, name: string): number | undefined {
  const count = fields[name];
  return typeof count === "number" && Number.isFinite(count) && count >= 0 ? count : undefined;
}
