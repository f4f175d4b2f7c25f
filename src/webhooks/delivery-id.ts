import { hash } from "node:crypto";
import type { WebhookEvent } from "../store/posts/interface.ts";

/**
 * Returns the `webhook-id` of the delivery of an event. It is the same on all nodes and in every pass over the log, so that no event is
 * stored twice. The time and the task distinguish events that get the same number after a restore of the database.
 */
export function deliveryId(webhook: string, { number, at, task }: Pick<WebhookEvent, "number" | "at" | "task">): string {
  return `msg_${hash("sha256", JSON.stringify([webhook, task.tenant, task.taskId, number, at])).slice(0, 32)}`;
}
