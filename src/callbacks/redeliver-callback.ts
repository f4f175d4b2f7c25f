import { BridgeError } from "../errors.ts";
import type { Callback, Store } from "../store/store.ts";
import type { TaskIdentity } from "../task.ts";
import { callbackOrigin } from "./callback-body.ts";
import type { CallbackWorker } from "./callback-worker.ts";

/** Gives a dead callback a new round of attempts, beginning at once; refuses when there is nothing to redeliver. */
export async function redeliverCallback(
  store: Pick<Store, "redeliverCallbackIfDead" | "findCallback">,
  worker: Pick<CallbackWorker, "notify">,
  task: TaskIdentity,
): Promise<Callback> {
  const redelivered = await store.redeliverCallbackIfDead(task.seq);
  if (redelivered !== null) {
    worker.notify({ tenant: task.tenant, origin: callbackOrigin(redelivered.url) });
    return redelivered;
  }
  const callback = await store.findCallback(task.seq);
  if (callback === null) throw new BridgeError("not_found", "This task has no callback.");
  if (callback.state === "delivered")
    throw new BridgeError("already_delivered", "The callback has been delivered; it is never posted again.");
  throw new BridgeError("invalid_state", "The callback is pending: it is under way already.");
}
