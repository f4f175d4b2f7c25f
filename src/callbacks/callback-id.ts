import { hash } from "node:crypto";
import type { TaskIdentity } from "../task.ts";

/**
 * The `webhook-id`: the same on all attempts and after a restart; a receiver deduplicates by it. `seq` tells apart tasks that have the same id one after
 * the other, because the first was deleted. Without it, it is the id of callbacks that were stored before they had one of their own.
 */
export function callbackId({ tenant, taskId, seq }: Pick<TaskIdentity, "tenant" | "taskId"> & { seq?: number }): string {
  const named = seq === undefined ? [tenant, taskId] : [tenant, taskId, seq];
  return `msg_${hash("sha256", JSON.stringify(named)).slice(0, 32)}`;
}
