import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import { BridgeError } from "../errors.ts";
import type { DeletionOutcome, Store } from "../store/store.ts";
import { isFinal } from "../task.ts";

/** How long a deletion waits for a runtime that outlives its task, and for its TMPDIR to be removed. */
const RELEASE_WAIT_MS = 5_000;

/** What a deletion works with. */
export interface TaskDeletionOptions {
  store: Pick<Store, "findTaskProgress" | "findFamily" | "deleteTaskIfEnded" | "purgeDeletedTasks">;
  /** By the number of the task: resolves when nothing of its run is left on this machine. */
  unreleased: ReadonlyMap<number, Promise<void>>;
  logger: Pick<Logger, "info" | "warn">;
  releaseWaitMs?: number;
}

/** Why a task cannot be deleted, and what to do. */
const refusals: Readonly<Record<Exclude<DeletionOutcome, "deleted" | "absent">, string>> = {
  unfinished: "The task has not ended. Cancel it first, and wait for its end.",
  child_unfinished: "A child task has not ended. Try again later.",
  parent_unfinished: "The parent task has not ended. Delete the task after it, or delete the parent, which deletes its child tasks too.",
  callback_pending: "The callback of the task is being delivered. Try again when its state is delivered or dead.",
};

/** Makes the function that deletes a task that has ended, with its child tasks and everything that is stored of them. */
export function createTaskDeletion({ store, unreleased, logger, releaseWaitMs = RELEASE_WAIT_MS }: TaskDeletionOptions) {
  /**
   * The id of the task is free after its deletion. A new task of this id would have the same TMPDIR and the same name for its runtime, so the old run
   * must be gone.
   */
  async function awaitRelease(family: readonly number[]): Promise<void> {
    const leaving = family.flatMap((seq) => unreleased.get(seq) ?? []);
    if (leaving.length === 0) return;
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, releaseWaitMs);
    await Promise.race([Promise.all(leaving), limit.promise]);
    clearTimeout(timer);
    if (family.some((seq) => unreleased.has(seq)))
      throw new BridgeError("invalid_state", "The runtime of the task or of a child task has not ended yet. Try again later.");
  }

  async function purge(): Promise<void> {
    while ((await store.purgeDeletedTasks()) > 0) await nextTurn();
  }

  return async (tenant: string, taskId: string): Promise<void> => {
    const task = await store.findTaskProgress(tenant, taskId);
    const family = await store.findFamily(tenant, taskId);
    if (task !== null && isFinal(task.state)) await awaitRelease(family);
    const outcome = await store.deleteTaskIfEnded(tenant, taskId);
    if (outcome === "absent") throw new BridgeError("not_found", "There is no such task.");
    if (outcome !== "deleted") throw new BridgeError("invalid_state", refusals[outcome]);
    logger.info({ taskId, tenant, childTasks: family.length - 1 }, "task deleted");
    // The task is deleted. Retention removes the rest of its rows if this fails.
    await purge().catch((error: unknown) => logger.warn({ err: error, taskId, tenant }, "rows of a deleted task could not be removed yet"));
  };
}
