import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  // Bridge delivers at least once. This table contains the processed tasks.
  callbackDedup: defineTable({ taskId: v.string(), receivedAt: v.number() }).index("by_task", ["taskId"]),

  taskResults: defineTable({
    taskId: v.string(),
    agentId: v.string(),
    provider: v.string(),
    status: v.union(v.literal("ok"), v.literal("error")),
    output: v.optional(v.string()),
    error: v.optional(v.string()),
    errorCode: v.optional(v.string()),
    finishedAt: v.string(),
  }).index("by_task", ["taskId"]),
});
