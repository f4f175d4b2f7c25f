import { setImmediate as nextTurn } from "node:timers/promises";
import type { ExecutionResult } from "#contract";
import { BridgeError } from "../errors.ts";
import { buildFinish } from "../results/build-finish.ts";
import { failedResult } from "../results/failed-result.ts";
import type { Store } from "../store/store.ts";
import { isFinal, type Task, type TaskProgress, taskHandle } from "../task.ts";
import type { RunningTasks } from "./running-tasks.ts";
import type { Scheduler } from "./scheduler.ts";
import { type SettlementOptions, settleTask } from "./settle-task.ts";

interface CancellationOptions extends SettlementOptions {
  store: Store;
  scheduler: Scheduler;
  running: RunningTasks;
}

/** Creates the functions that end tasks before their runtime does. The end of a task also cancels its child tasks. */
export function createTaskCancellation(options: CancellationOptions) {
  const { store, scheduler, running } = options;
  /** Writes in progress that cancel queued tasks, by task number. */
  const cancelingQueued = new Map<number, Promise<Task | null>>();

  /** Cancels a task and its children. `changed` is false if the task had ended before. Throws BridgeError: not_found. */
  async function cancel(tenant: string, taskId: string): Promise<{ task: TaskProgress; changed: boolean }> {
    const task = await store.findTaskProgress(tenant, taskId);
    if (task === null) throw new BridgeError("not_found", "There is no such task.");
    if (isFinal(task.state)) return { task, changed: false };
    if (task.state === "queued") {
      // A request may be long, so concurrent cancellations of one task share one read of it.
      const earlier = cancelingQueued.get(task.seq);
      if (earlier !== undefined) await earlier.catch(() => {});
      else {
        const canceling = cancelQueued(task).finally(() => cancelingQueued.delete(task.seq));
        cancelingQueued.set(task.seq, canceling);
        const ended = await canceling;
        if (ended !== null) return { task: { ...task, state: ended.state }, changed: true };
      }
    }
    const stopped = await stopRunning(task);
    const now = (await store.findTaskProgress(tenant, taskId)) ?? task;
    // False if the task ended by itself in the meantime.
    return { task: now, changed: stopped || !isFinal(now.state) };
  }

  async function cancelQueued({ tenant, taskId }: TaskProgress): Promise<Task | null> {
    const task = await store.findTask(tenant, taskId);
    if (task?.state !== "queued") return null;
    return endQueued(task, failedResult("cancelled", "The task was canceled before it started."), { patient: false });
  }

  async function stopRunning(task: TaskProgress): Promise<boolean> {
    let run = running.find(taskHandle(task));
    // A task is stored as running a few turns before its run is registered.
    while (run === undefined && (await store.findTaskProgress(task.tenant, task.taskId))?.state === "running") {
      await nextTurn();
      run = running.find(taskHandle(task));
    }
    const stopped = run?.stop("cancelled", "The task was canceled.") ?? false;
    await cancelChildren(task);
    return stopped;
  }

  /** A task that does not run in this process has none: after a restart, `recover` ends the children of interrupted tasks one by one. */
  async function cancelChildren(parent: TaskProgress): Promise<void> {
    if (running.find(taskHandle(parent))?.hasChildren !== true) return;
    for (const child of await store.listUnfinishedChildren(parent.seq)) await cancel(child.tenant, child.taskId);
  }

  /** Ends a queued task with this result. Returns null if the task is no longer queued. */
  async function endQueued(task: Task, result: ExecutionResult, writeOptions?: { patient: boolean }): Promise<Task | null> {
    const ended = await store.finishTaskIfQueued(task, buildFinish(task, result), writeOptions);
    if (ended !== null) scheduler.removeQueued(task);
    await settle(ended);
    return ended;
  }

  /** Publishes the end of a task that the store has finished; null if another end was stored first. Cancels the task's children. */
  async function settle(task: Task | null): Promise<void> {
    if (task === null) return;
    settleTask(task, options);
    await cancelChildren(task);
  }

  return { cancel, endQueued, settle };
}
