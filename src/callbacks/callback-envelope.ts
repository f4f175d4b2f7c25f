import { hash, type KeyObject } from "node:crypto";
import type { Envelope } from "../posts/poster.ts";
import type { DueCallback } from "../store/posts/interface.ts";
import type { TaskIdentity } from "../task.ts";

/** Returns the function that creates the envelope of a callback. Without keys, callbacks are not signed. */
export const createCallbackEnvelope =
  (signingKeys: readonly KeyObject[]) =>
  ({ task, messageId, traceparent, tracestate }: DueCallback): Envelope => ({
    id: messageId ?? callbackId({ tenant: task.tenant, taskId: task.taskId }),
    headers: {
      "idempotency-key": task.taskId,
      ...(traceparent !== null && { traceparent }),
      ...(tracestate !== null && { tracestate }),
    },
    signingKeys,
  });

/**
 * Returns the `webhook-id`. It is the same on all attempts and after a restart, so receivers can deduplicate by it. `seq` distinguishes
 * tasks that reuse the id of a deleted task. Callbacks that an earlier version stored without an id have the id without `seq`.
 */
export function callbackId({ tenant, taskId, seq }: Pick<TaskIdentity, "tenant" | "taskId"> & { seq?: number }): string {
  const named = seq === undefined ? [tenant, taskId] : [tenant, taskId, seq];
  return `msg_${hash("sha256", JSON.stringify(named)).slice(0, 32)}`;
}
