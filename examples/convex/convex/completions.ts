import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

/** Runs once for each ended task. Add here what your application does next. */
export const onCompletion = internalMutation({
  args: { taskId: v.string() },
  handler: async (context, { taskId }) => {
    const result = await context.db
      .query("taskResults")
      .withIndex("by_task", (index) => index.eq("taskId", taskId))
      .unique();
    console.log(`${taskId} ended: ${result?.status}`);
  },
});
