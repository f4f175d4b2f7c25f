import { setImmediate as nextTurn } from "node:timers/promises";
import { withTimeout } from "@hak2i/async-kit";
import type { Logger } from "pino";
import { BridgeError } from "../../errors.ts";
import type { DeletionOutcome } from "../../store/maintenance/interface.ts";
import type { Store } from "../../store/store.ts";
import { isFinal } from "../../task.ts";

/** Maximum time that a deletion waits for a runtime that outlives its task, and for the removal of its TMPDIR. */
const RELEASE_WAIT_MS = 5_000;

/** The parts that a deletion uses. */
export interface TaskDeletionOptions {
  store: Pick<Store, "findTaskProgress" | "findFamily" | "deleteTaskIfEnded" | "purgeDeletedTasks">;
  /** For each task number, a promise that resolves when the task's runtime has ended and its TMPDIR is removed. */
  unreleased: ReadonlyMap<number, Promise<void>>;
  logger: Pick<Logger, "info" | "warn">;
  releaseWaitMs?: number;
}

/** Why a task cannot be deleted, and what to do. */
const rejections: Readonly<Record<Exclude<DeletionOutcome, "deleted" | "absent">, string>> = {
  unfinished: "The task has not ended. Cancel it first, or wait until it has ended.",
  child_unfinished: "A child task has not ended. Cancel it, or wait until it has ended, and try again.",
  parent_unfinished: "The parent task has not ended. Delete the task after it, or delete the parent, which deletes its child tasks too.",
  callback_pending: "The callback of the task is being delivered. Try again when its state is delivered or dead.",
};

/** Creates the function that deletes an ended task, its child tasks and all data stored for them. */
export function createTaskDeletion({ store, unreleased, logger, releaseWaitMs = RELEASE_WAIT_MS }: TaskDeletionOptions) {
  /**
   * The task id can be reused after the deletion. A new task with this id would have the same TMPDIR and runtime name, so the old run must
   * have ended completely.
   */
  async function awaitRelease(family: readonly number[]): Promise<void> {
    const leaving = family.flatMap((seq) => unreleased.get(seq) ?? []);
    if (leaving.length === 0) return;
    await withTimeout(Promise.all(leaving), releaseWaitMs, () => {});
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
    if (outcome !== "deleted") throw new BridgeError("invalid_state", rejections[outcome]);
    logger.info({ taskId, tenant, childTasks: family.length - 1 }, "task deleted");
    // The task is deleted. Retention removes the rest of its rows if this fails.
    await purge().catch((error: unknown) => logger.warn({ err: error, taskId, tenant }, "failed to remove rows of a deleted task"));
  };
}
