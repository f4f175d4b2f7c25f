import { v } from "convex/values";

/** The fields of a callback that are stored, in the argument of the mutation and in the table. */
export const resultFields = {
  taskId: v.string(),
  agentId: v.string(),
  provider: v.string(),
  status: v.union(v.literal("ok"), v.literal("error")),
  output: v.optional(v.string()),
  outputs: v.optional(v.string()), // JSON text, because Convex does not accept every field name.
  error: v.optional(v.string()),
  errorCode: v.optional(v.string()),
  metadata: v.string(), // JSON
  durationMs: v.number(),
  finishedAt: v.string(),
};

/** What a task has used. An absent field is unknown, not 0. */
export const usageFields = {
  model: v.optional(v.string()),
  costUsd: v.optional(v.number()),
  costSource: v.optional(v.string()),
  inputTokens: v.optional(v.number()),
  outputTokens: v.optional(v.number()),
  thinkingTokens: v.optional(v.number()),
  cacheReadTokens: v.optional(v.number()),
  cacheWriteTokens: v.optional(v.number()),
};
