import type { AdapterEvent } from "#contract";
import type { Approvals } from "../../approvals/approvals.ts";
import { encodeEventData } from "../../events/encode-event-data.ts";
import { buildFinish } from "../../results/build-finish.ts";
import { failedResult } from "../../results/failed-result.ts";
import type { Store } from "../../store/store.ts";
import type { InterruptedTask } from "../../store/tasks/interface.ts";
import type { Task } from "../../task.ts";
import { readEarlierRuns, withEarlierRuns } from "../run/earlier-runs.ts";
import { createOpenCalls } from "../run/open-calls.ts";
import type { TreeEnds } from "../run/tree-ends.ts";
import type { TaskCancellation } from "./cancel-task.ts";

/** Events of tool calls of an interrupted task that are read at once. */
const PAGE_SIZE = 1_000;

interface InterruptedTasksOptions {
  store: Store;
  approvals: Approvals;
  recordEnd: TaskCancellation["recordEnd"];
  trees: TreeEnds;
}

export type InterruptedTasks = ReturnType<typeof createInterruptedTasks>;

/** Creates the functions that end or requeue tasks whose run has ended without storing it, as in a crash. */
export function createInterruptedTasks({ store, approvals, recordEnd, trees }: InterruptedTasksOptions) {
  /** Stores the end of each tool call that was open when the run was interrupted. */
  async function endOpenCalls(task: Task): Promise<void> {
    const openCalls = createOpenCalls(task.taskId);
    for (let after = 0; ; ) {
      const page = await store.readTaskEvents(task.seq, after, PAGE_SIZE, "toolCalls");
      for (const { type, data } of page) openCalls.add({ type, data: JSON.parse(data) } as AdapterEvent);
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.number;
    }
    const ends = openCalls.end(() => false).map(({ type, data }) => ({ type, data: encodeEventData(data) }));
    if (ends.length > 0) await store.appendEventsIfRunning(task, ends);
  }

  /** Returns a task to the queue, with its work tree, if its dispatch allows it and it was not returned before. */
  const requeues = async (task: Task): Promise<boolean> =>
    task.state === "running" && task.parentSeq === null && task.request.onInterrupt === "retry" && (await store.requeueTaskIfRunning(task));

  /** A stored stop request decides the end of its task. */
  async function endInterrupted(interrupted: readonly InterruptedTask[], reason: string): Promise<void> {
    for (const { task, stop } of interrupted) {
      approvals.adopt(task);
      const earlier = await readEarlierRuns(store, task);
      if (task.state === "running") {
        await endOpenCalls(task);
        // The process may have ended before budgets counted what the run and its children have stored.
        await store.meterIfRunning(task, earlier.total().known);
      }
      if (await requeues(task)) {
        await approvals.release(task);
        continue;
      }
      const failure = failedResult(stop?.code ?? "bridge_restarted", stop?.reason ?? reason);
      const result = await trees.end(task, withEarlierRuns(failure, earlier));
      const finish = { ...buildFinish(task, result), hasChildren: earlier.hasChildren, isInterrupted: true };
      if (task.state === "queued") await recordEnd(await store.finishTaskIfQueued(task, finish));
      else await recordEnd(await store.finishTaskIfRunning(task, finish));
      void trees.release(task);
    }
  }

  return {
    /** Ends or requeues the tasks that the last process of this node has left running. */
    endOwnTasks: async (): Promise<void> => endInterrupted(await store.listInterruptedTasks(), "Bridge was restarted while the task ran."),
    /** Ends or requeues those running tasks of this node that the function chooses. Returns their number. */
    async endLostTasks(choose: (running: readonly InterruptedTask[]) => Promise<readonly InterruptedTask[]>): Promise<number> {
      const lost = await choose((await store.listInterruptedTasks()).filter(({ task }) => task.state === "running"));
      await endInterrupted(lost, "The node that was to run the task has lost it.");
      return lost.length;
    },
    /** Ends or requeues the tasks that another node has left running when it died. Returns their number. */
    async endTasksOf({ id, name }: { id: string; name: string }): Promise<number> {
      const interrupted = await store.listInterruptedTasks(id);
      await endInterrupted(interrupted, `The node ${name}, which ran the task, stopped responding.`);
      return interrupted.length;
    },
  };
}
