import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation } from "./_generated/server";
import { resultFields, usageFields } from "./fields";

/** Processes a callback once. A mutation is a transaction, so concurrent deliveries cannot both be the first. */
export const take = internalMutation({
  args: { result: v.object(resultFields), usage: v.object(usageFields) },
  handler: async (context, { result, usage }) => {
    const { taskId, agentId, provider } = result;
    const taken = await context.db
      .query("callbackDedup")
      .withIndex("by_task", (index) => index.eq("taskId", taskId))
      .unique();
    if (taken !== null) return;
    await context.db.insert("callbackDedup", { taskId, receivedAt: Date.now() });
    await context.db.insert("taskResults", result);
    await context.db.insert("tokenEvents", { taskId, agentId, provider, ...usage });
    await context.scheduler.runAfter(0, internal.completions.onCompletion, { taskId }); // Runs only if this mutation commits.
  },
});
