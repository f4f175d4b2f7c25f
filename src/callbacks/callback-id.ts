import { hash } from "node:crypto";
import type { TaskIdentity } from "../task.ts";

/**
 * Returns the `webhook-id`. It is the same on all attempts and after a restart, so receivers can deduplicate by it. `seq` distinguishes
 * tasks that reuse the id of a deleted task. Callbacks that an earlier version stored without an id have the id without `seq`.
 */
export function callbackId({ tenant, taskId, seq }: Pick<TaskIdentity, "tenant" | "taskId"> & { seq?: number }): string {
  const named = seq === undefined ? [tenant, taskId] : [tenant, taskId, seq];
  return `msg_${hash("sha256", JSON.stringify(named)).slice(0, 32)}`;
}
