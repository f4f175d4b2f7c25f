import { isJsonObject } from "#contract";
import { optional, type Protocol, readCounts, textOf } from "../protocol.ts";

/** OpenAI Responses and chat completions, which other vendors offer, too. */
export const openai: Protocol = {
  classify(method, path) {
    if (method !== "POST" || /\/(input_tokens|cancel|moderations)$/.test(path)) return "free";
    if (/\/batches(\/|$)/.test(path)) return "deferred";
    return /\/(responses|responses\/compact|completions)$/.test(path) ? "generation" : "other";
  },
  relevant: /"usage"\s*:\s*\{|\[DONE\]|response\.(completed|incomplete|failed)/,
  read(data) {
    if (data === "[DONE]") return { isLast: true };
    if (!isJsonObject(data)) return {};
    // Events of a response contain it; a chunk of a chat completion and a response without events are the object itself.
    const response = isJsonObject(data["response"]) ? data["response"] : data;
    const counts = readCounts(response["usage"]);
    const model = textOf(response["model"]);
    return {
      ...(model !== undefined && { model }),
      ...(counts !== undefined && { counts }),
      // Some vendors omit `[DONE]` after the chunk with the usage.
      isComplete: counts !== undefined && data["object"] === "chat.completion.chunk",
      isLast: typeof data["type"] === "string" && /^response\.(completed|incomplete|failed)$/.test(data["type"]),
    };
  },
  toUsage(counts) {
    const inputTokens = counts["input_tokens"] ?? counts["prompt_tokens"] ?? 0;
    const output = counts["output_tokens"] ?? counts["completion_tokens"] ?? 0;
    return {
      inputTokens,
      // Some vendors count thinking only in the total.
      outputTokens: Math.max(output, (counts["total_tokens"] ?? 0) - inputTokens),
      ...optional(
        "thinkingTokens",
        counts["output_tokens_details.reasoning_tokens"] ?? counts["completion_tokens_details.reasoning_tokens"],
      ),
      ...optional(
        "cacheReadTokens",
        counts["input_tokens_details.cached_tokens"] ?? counts["prompt_tokens_details.cached_tokens"] ?? counts["prompt_cache_hit_tokens"],
      ),
      ...optional("cacheWriteTokens", counts["input_tokens_details.cache_write_tokens"]),
    };
  },
  outputLimit: { names: ["max_output_tokens", "max_completion_tokens", "max_tokens"], largest: 128_000 },
  // Codex repeats calls with status 402, 403 and 429.
  refusalStatus: 400,
  errorBody: (status, message) => ({
    error: { message, type: status === 429 ? "rate_limit_error" : "invalid_request_error", param: null, code: null },
  }),
};
