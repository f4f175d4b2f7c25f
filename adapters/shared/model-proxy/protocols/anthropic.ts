import { isJsonObject } from "#contract";
import { optional, type Protocol, readCounts, textOf } from "../protocol.ts";

/** Anthropic Messages. */
export const anthropic: Protocol = {
  classify(method, path) {
    if (method !== "POST" || /\/(count_tokens|cancel)$/.test(path)) return "free";
    if (/\/batches(\/|$)/.test(path)) return "deferred";
    return /\/(messages|complete)$/.test(path) ? "generation" : "other";
  },
  relevant: /"usage"|message_stop/,
  read(data) {
    if (!isJsonObject(data)) return {};
    // `message_start` contains the message, `message_delta` only counts, and a response without events is the message itself.
    const message = isJsonObject(data["message"]) ? data["message"] : data;
    const counts = readCounts(message["usage"]);
    const model = textOf(message["model"]);
    const isLast = data["type"] === "message_stop" || data["type"] === "message";
    return { ...(model !== undefined && { model }), ...(counts !== undefined && { counts }), isLast };
  },
  toUsage(counts) {
    const cacheRead = counts["cache_read_input_tokens"];
    const cacheWrite = counts["cache_creation_input_tokens"];
    return {
      inputTokens: (counts["input_tokens"] ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0),
      outputTokens: counts["output_tokens"] ?? 0,
      ...optional("thinkingTokens", counts["output_tokens_details.thinking_tokens"]),
      ...optional("cacheReadTokens", cacheRead),
      ...optional("cacheWriteTokens", cacheWrite),
      ...optional("cacheWrite1hTokens", counts["cache_creation.ephemeral_1h_input_tokens"] || undefined),
    };
  },
  outputLimit: { names: ["max_tokens", "max_tokens_to_sample"], largest: 128_000 },
  // Claude Code repeats a call with status 400 five times.
  refusalStatus: 402,
  errorBody: (status, message) => ({ type: "error", error: { type: ERROR_TYPES[status] ?? "api_error", message } }),
};

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
};
