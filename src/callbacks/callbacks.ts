import { BridgeError } from "../errors.ts";
import { type Redelivery, redeliverPages } from "../posts/redeliver-pages.ts";
import type { Page } from "../store/page.ts";
import type { Callback, CallbackDetails, CallbackState } from "../store/posts/interface.ts";
import type { Store } from "../store/store.ts";
import { callbackOrigin } from "./callback-body.ts";
import type { CallbackWorker } from "./callback-worker.ts";

export { type CallbackAttempt, type CallbackDetails, callbackStates } from "../store/posts/interface.ts";

/** Whether the callback waits for the end of its task. */
export const isAwaitingEnd = ({ state, nextAttemptAt }: Callback): boolean => state === "pending" && nextAttemptAt === null;

export type Callbacks = ReturnType<typeof createCallbacks>;

/** Creates the list of a tenant's callbacks, from which operators redeliver dead ones. */
export function createCallbacks(store: Store, worker: Pick<CallbackWorker, "notify">) {
  /** Returns the callback of a task that has not ended, which is stored when the task ends. Throws BridgeError: not_found. */
  async function findUnstored(taskSeq: number): Promise<Callback> {
    const callback = (await store.readTaskStatuses([taskSeq])).get(taskSeq)?.callback;
    if (callback === null || callback === undefined) throw new BridgeError("not_found", "The task has no callback.");
    return callback;
  }

  return {
    list: (tenant: string, state: CallbackState | undefined, page: Page): Promise<Callback[]> => store.listCallbacks(tenant, state, page),

    /** The callback of a task with its last attempts; without attempts until the task has ended. Throws BridgeError: not_found. */
    async get(tenant: string, taskId: string): Promise<CallbackDetails> {
      const task = await store.findTaskProgress(tenant, taskId);
      if (task === null) throw new BridgeError("not_found", "There is no such task.");
      return (await store.findCallbackDetails(task.seq)) ?? { ...(await findUnstored(task.seq)), history: [] };
    },

    /**
     * Gives the dead callbacks of one origin a new round of attempts, those of the newest tasks first. Examines a limited number of dead
     * callbacks, from `before` on, so that repeated requests end even if the receiver still fails.
     */
    async redeliverAll({ tenant, origin }: { tenant: string; origin: string }, before: number | null): Promise<Redelivery> {
      const result = await redeliverPages({
        before,
        list: (page) => store.listCallbacks(tenant, "dead", page),
        keyOf: ({ task }) => task.seq,
        redeliver: async ({ url, task }) => callbackOrigin(url) === origin && (await store.redeliverCallbackIfDead(task.seq)) !== null,
      });
      if (result.redelivered > 0) worker.notify({ tenant, receiver: origin });
      return result;
    },

    /**
     * Gives a dead callback a new round of attempts, which starts immediately. Throws BridgeError: not_found, already_delivered,
     * invalid_state.
     */
    async redeliver(tenant: string, taskId: string): Promise<Callback> {
      const task = await store.findTaskProgress(tenant, taskId);
      if (task === null) throw new BridgeError("not_found", "There is no such task.");
      const redelivered = await store.redeliverCallbackIfDead(task.seq);
      if (redelivered !== null) {
        worker.notify({ tenant, receiver: callbackOrigin(redelivered.url) });
        return redelivered;
      }
      const callback = (await store.findCallback(task.seq)) ?? (await findUnstored(task.seq));
      if (callback.state === "delivered")
        throw new BridgeError("already_delivered", "The callback has been delivered. Only dead callbacks can be redelivered.");
      if (isAwaitingEnd(callback))
        throw new BridgeError(
          "invalid_state",
          "The task has not ended. Bridge delivers its callback when it ends. Only dead callbacks can be redelivered.",
        );
      throw new BridgeError("invalid_state", "The callback is pending. Only dead callbacks can be redelivered.");
    },
  };
}
