import { BridgeError } from "../errors.ts";
import type { Callback, CallbackState, Page } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { callbackOrigin } from "./callback-body.ts";
import type { CallbackWorker } from "./callback-worker.ts";

export { callbackStates } from "../store/records.ts";

export type Callbacks = ReturnType<typeof createCallbacks>;

/** Creates the list of a tenant's callbacks, from which operators redeliver dead ones. */
export function createCallbacks(store: Store, worker: Pick<CallbackWorker, "notify">) {
  return {
    list: (tenant: string, state: CallbackState | undefined, page: Page): Promise<Callback[]> => store.listCallbacks(tenant, state, page),

    /**
     * Gives a dead callback a new round of attempts, which starts immediately. Throws BridgeError: not_found, already_delivered,
     * invalid_state.
     */
    async redeliver(tenant: string, taskId: string): Promise<Callback> {
      const task = await store.findTaskProgress(tenant, taskId);
      if (task === null) throw new BridgeError("not_found", "There is no such task.");
      const redelivered = await store.redeliverCallbackIfDead(task.seq);
      if (redelivered !== null) {
        worker.notify({ tenant, origin: callbackOrigin(redelivered.url) });
        return redelivered;
      }
      const callback = await store.findCallback(task.seq);
      if (callback === null) throw new BridgeError("not_found", "The task has no callback.");
      if (callback.state === "delivered")
        throw new BridgeError("already_delivered", "The callback has been delivered. Only dead callbacks can be redelivered.");
      throw new BridgeError("invalid_state", "The callback is pending. Only dead callbacks can be redelivered.");
    },
  };
}
