import { isJsonObject } from "#contract";
import { optional, type Protocol, readCounts, textOf } from "../protocol.ts";

/** The Gemini API. */
export const gemini: Protocol = {
  classify(method, path) {
    if (method !== "POST" || /:countTokens$/i.test(path)) return "free";
    if (/:\w*batch\w*$/i.test(path) || /\/batches(\/|$)/.test(path)) return "deferred";
    return /:(stream)?generateContent$/i.test(path) ? "generation" : "other";
  },
  relevant: /"usageMetadata"|"finishReason"/,
  read(data) {
    if (!isJsonObject(data)) return {};
    const counts = readCounts(data["usageMetadata"]);
    const model = textOf(data["modelVersion"]);
    const candidates = Array.isArray(data["candidates"]) ? data["candidates"] : [];
    const isComplete = candidates.some((candidate) => isJsonObject(candidate) && textOf(candidate["finishReason"]) !== undefined);
    return { ...(model !== undefined && { model }), ...(counts !== undefined && { counts }), isComplete };
  },
  toUsage(counts) {
    const thinking = counts["thoughtsTokenCount"];
    return {
      inputTokens: (counts["promptTokenCount"] ?? 0) + (counts["toolUsePromptTokenCount"] ?? 0),
      outputTokens: (counts["candidatesTokenCount"] ?? 0) + (thinking ?? 0),
      ...optional("thinkingTokens", thinking),
      ...optional("cacheReadTokens", counts["cachedContentTokenCount"]),
    };
  },
  outputLimit: { names: ["maxOutputTokens", "max_output_tokens"], largest: 65_536 },
  refusalStatus: 400,
  errorBody: (status, message) => ({ error: { code: status, message, status: STATUS_NAMES[status] ?? "UNKNOWN" } }),
};

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  502: "UNAVAILABLE",
};
