import { hash } from "node:crypto";
import type { TaskIdentity } from "../task.ts";

/**
 * The `webhook-id`: the same on all attempts and after a restart; a receiver deduplicates by it. `seq` distinguishes tasks that reuse the id of a deleted
 * task. Without `seq`, returns the id of callbacks that an earlier version stored without an id.
 */
export function callbackId({ tenant, taskId, seq }: Pick<TaskIdentity, "tenant" | "taskId"> & { seq?: number }): string {
  const named = seq === undefined ? [tenant, taskId] : [tenant, taskId, seq];
  return `msg_${hash("sha256", JSON.stringify(named)).slice(0, 32)}`;
}
