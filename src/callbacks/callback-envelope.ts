import type { KeyObject } from "node:crypto";
import type { Envelope } from "../posts/poster.ts";
import type { DueCallback } from "../store/posts/interface.ts";
import { callbackId } from "./callback-id.ts";

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
