import { setImmediate as nextTurn } from "node:timers/promises";
import { withTimeout } from "@hak2i/async-kit";
import type { ExecutionResult } from "#contract";
import { BridgeError } from "../../errors.ts";
import { buildFinish } from "../../results/build-finish.ts";
import { failedResult } from "../../results/failed-result.ts";
import type { Store } from "../../store/store.ts";
import { isFinal, type StopRequest, type Task, type TaskIdentity, type TaskProgress, taskHandle } from "../../task.ts";
import { mayHaveRunBefore, readEarlierRuns, withEarlierRuns } from "../run/earlier-runs.ts";
import type { Run } from "../run/run-task.ts";
import type { RunningTasks } from "../run/running-tasks.ts";
import type { TreeEnds } from "../run/tree-ends.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import { recordTaskEnd, type TaskEndOptions } from "./record-task-end.ts";

interface CancellationOptions extends TaskEndOptions {
  store: Store;
  scheduler: Scheduler;
  running: RunningTasks;
  trees: TreeEnds;
  /** Time that a stopped runtime may take to end. */
  stopGraceMs: number;
}

export type TaskCancellation = ReturnType<typeof createTaskCancellation>;

const cancellation: StopRequest = { code: "cancelled", reason: "The task was canceled." };

/** Creates the functions that end tasks before their runtime does. The end of a task also cancels its child tasks. */
export function createTaskCancellation(options: CancellationOptions) {
  const { store, scheduler, running, trees, logger } = options;
  /** Writes in progress that cancel queued tasks, by task number. */
  const cancelingQueued = new Map<number, Promise<Task | null>>();

  /** Cancels a task and its children. `changed` is false if the task had ended before. Throws BridgeError: not_found. */
  async function cancel(tenant: string, taskId: string): Promise<{ task: TaskProgress; changed: boolean }> {
    const task = await store.findTaskProgress(tenant, taskId);
    if (task === null) throw new BridgeError("not_found", "There is no such task.");
    if (isFinal(task.state)) return { task, changed: false };
    if (task.state === "queued") {
      const ended = await cancelQueuedOnce(task);
      // Null if the task has started in the meantime, or another cancellation has ended it.
      return ended === null ? cancel(tenant, taskId) : { task: { ...task, state: ended.state }, changed: true };
    }
    const isStopped = await stopRunning(task);
    const now = (await store.findTaskProgress(tenant, taskId)) ?? task;
    // A restart or a shutdown has returned the task to the queue in the meantime, which happens at most once.
    if (now.state === "queued") return cancel(tenant, taskId);
    // False if the task ended by itself in the meantime, maybe on another node before it received the request.
    return { task: now, changed: isFinal(now.state) ? isStopped && now.state === "cancelled" : true };
  }

  /**
   * Cancels a queued task. The task's request may be long, so concurrent cancellations share one read of it. Returns null for all but the
   * first of them.
   */
  async function cancelQueuedOnce(task: TaskProgress): Promise<Task | null> {
    const earlier = cancelingQueued.get(task.seq);
    if (earlier !== undefined) {
      await earlier;
      return null;
    }
    const canceling = cancelQueued(task).finally(() => cancelingQueued.delete(task.seq));
    cancelingQueued.set(task.seq, canceling);
    return canceling;
  }

  async function cancelQueued({ tenant, taskId }: TaskProgress): Promise<Task | null> {
    const task = await store.findTask(tenant, taskId);
    if (task?.state !== "queued") return null;
    return endQueued(task, failedResult("cancelled", "The task was canceled before it started."), { patient: false });
  }

  async function stopRunning(task: TaskProgress): Promise<boolean> {
    // Another process runs the task, or the task is about to end without being run.
    if ((await findRun(running, task)) === undefined) return store.requestStopIfRunning(task, cancellation);
    return stopOwnRun(task, cancellation);
  }

  /** Stops a task that runs in this process, and cancels its children. */
  async function stopOwnRun(task: TaskIdentity, { code, reason }: StopRequest): Promise<boolean> {
    const stopped = running.find(taskHandle(task))?.stop(code, reason) ?? false;
    await cancelChildren(task);
    return stopped;
  }

  /** Children run in the process of their parent. After a restart, `recover` ends the children of interrupted tasks one by one. */
  async function cancelChildren(parent: TaskIdentity): Promise<void> {
    if (running.find(taskHandle(parent))?.hasChildren !== true) return;
    for (const child of await store.listUnfinishedChildren(parent.seq)) await cancel(child.tenant, child.taskId);
  }

  /** Cancels the children of a running task, and resolves when their runtimes, and those of their children, have ended. */
  async function endChildren(parent: TaskIdentity): Promise<void> {
    await cancelChildren(parent);
    const run = running.find(taskHandle(parent));
    const below = running.all().filter((other) => other !== run && running.listWithAncestors(other).some((one) => one === run));
    await withTimeout(Promise.all(below.map(({ runtimeEnded }) => runtimeEnded)), options.stopGraceMs, () => {});
  }

  /** Ends a queued task with this result. Returns null if the task is no longer queued. */
  async function endQueued(task: Task, result: ExecutionResult, writeOptions?: { patient: boolean }): Promise<Task | null> {
    const earlier = mayHaveRunBefore(task) ? await readEarlierRuns(store, task) : null;
    const complete = await trees.end(task, earlier === null ? result : withEarlierRuns(result, earlier));
    const finish = { ...buildFinish(task, complete), hasChildren: earlier?.hasChildren === true };
    const ended = await store.finishTaskIfQueued(task, finish, writeOptions);
    if (ended !== null) scheduler.removeQueued(task);
    await recordEnd(ended);
    if (ended !== null) void trees.release(task);
    return ended;
  }

  /** Publishes the end of a task that the store has finished; null if another end was stored first. Cancels the task's children. */
  async function recordEnd(task: Task | null): Promise<void> {
    if (task === null) return;
    recordTaskEnd(task, options);
    await cancelChildren(task);
  }

  store.onStopRequests((task, stop) => {
    stopOwnRun(task, stop).catch((err: unknown) =>
      logger.error({ err, taskId: task.taskId, tenant: task.tenant }, "failed to cancel child tasks"),
    );
  });

  return { cancel, endQueued, endChildren, recordEnd };
}

async function findRun(running: RunningTasks, task: TaskIdentity): Promise<Run | undefined> {
  const run = running.find(taskHandle(task));
  if (run !== undefined) return run;
  // A task is stored as running shortly before its run is registered, in the same event-loop turn.
  await nextTurn();
  return running.find(taskHandle(task));
}
