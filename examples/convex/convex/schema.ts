import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { resultFields, usageFields } from "./fields";

export default defineSchema({
  // Bridge delivers at least once. This table contains the processed tasks.
  callbackDedup: defineTable({ taskId: v.string(), receivedAt: v.number() }).index("by_task", ["taskId"]),
  taskResults: defineTable(resultFields).index("by_task", ["taskId"]),
  // One row for each task, for sums of its cost and its tokens.
  tokenEvents: defineTable({ taskId: v.string(), agentId: v.string(), provider: v.string(), ...usageFields }).index("by_agent", [
    "agentId",
  ]),
});
