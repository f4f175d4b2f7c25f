import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

/** Processes a callback once. A mutation is a transaction, so concurrent deliveries cannot both be the first. */
export const take = internalMutation({
  args: {
    taskId: v.string(),
    agentId: v.string(),
    provider: v.string(),
    status: v.union(v.literal("ok"), v.literal("error")),
    output: v.optional(v.string()),
    error: v.optional(v.string()),
    errorCode: v.optional(v.string()),
    finishedAt: v.string(),
  },
  handler: async (context, result) => {
    const taken = await context.db
      .query("callbackDedup")
      .withIndex("by_task", (index) => index.eq("taskId", result.taskId))
      .unique();
    if (taken !== null) return;
    await context.db.insert("callbackDedup", { taskId: result.taskId, receivedAt: Date.now() });
    await context.db.insert("taskResults", result);
  },
});
