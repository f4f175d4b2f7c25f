import { v } from "convex/values";
import { internalAction } from "./_generated/server";

/** Dispatches a task to Bridge, which posts the result to `/bridge/callback`. A repeated `taskId` is the same task. */
export const dispatch = internalAction({
  args: {
    taskId: v.string(),
    agentId: v.string(),
    message: v.string(),
    provider: v.optional(v.string()), // Required if Bridge has several adapters.
    model: v.optional(v.string()),
    metadata: v.optional(v.record(v.string(), v.any())), // Returned with the result, for example the id of a workflow step.
  },
  handler: async (_context, task) => {
    const response = await fetch(`${process.env.BRIDGE_URL}/api/v2/dispatch`, {
      method: "POST",
      headers: { authorization: `Bearer ${process.env.BRIDGE_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ ...task, callbackUrl: `${process.env.CONVEX_SITE_URL}/bridge/callback` }),
    });
    if (response.status !== 202) throw new Error(`Bridge rejected ${task.taskId}: ${response.status} ${await response.text()}`);
  },
});
