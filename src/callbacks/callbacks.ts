import { BridgeError } from "../errors.ts";
import type { Callback, CallbackState, Page, Store } from "../store/store.ts";
import type { CallbackWorker } from "./callback-worker.ts";
import { redeliverCallback } from "./redeliver-callback.ts";

export { callbackStates } from "../store/store.ts";

/** A tenant's callbacks, as operators see and redeliver them. */
export interface Callbacks {
  list(tenant: string, state: CallbackState | undefined, page: Page): Promise<Callback[]>;
  /** Gives a dead callback a new round of attempts. Throws BridgeError. */
  redeliver(tenant: string, taskId: string): Promise<Callback>;
}

export function createCallbacks(
  store: Pick<Store, "findTaskProgress" | "findCallback" | "listCallbacks" | "redeliverCallbackIfDead">,
  worker: Pick<CallbackWorker, "notify">,
): Callbacks {
  return {
    list: (tenant, state, page) => store.listCallbacks(tenant, state, page),
    async redeliver(tenant, taskId) {
      const task = await store.findTaskProgress(tenant, taskId);
      if (task === null) throw new BridgeError("not_found", "There is no such task.");
      return redeliverCallback(store, worker, task);
    },
  };
}
