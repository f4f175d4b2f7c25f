import type { AdapterEvent } from "#contract";
import type { Approvals } from "../../approvals/approvals.ts";
import { encodeEventData } from "../../events/encode-event-data.ts";
import { buildFinish } from "../../results/build-finish.ts";
import { failedResult } from "../../results/failed-result.ts";
import type { Store } from "../../store/store.ts";
import type { InterruptedTask } from "../../store/tasks/interface.ts";
import type { Task } from "../../task.ts";
import { createOpenCalls } from "../run/open-calls.ts";
import { nothingSpent, readSpent, withSpent } from "../run/spent.ts";
import type { TaskCancellation } from "./cancel-task.ts";

/** Events of tool calls of an interrupted task that are read at once. */
const PAGE_SIZE = 1_000;

interface InterruptedTasksOptions {
  store: Store;
  approvals: Approvals;
  recordEnd: TaskCancellation["recordEnd"];
}

export type InterruptedTasks = ReturnType<typeof createInterruptedTasks>;

/** Creates the functions that end or requeue tasks whose run has ended without storing it, as in a crash. */
export function createInterruptedTasks({ store, approvals, recordEnd }: InterruptedTasksOptions) {
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

  /** A stored stop request decides the end of its task. */
  async function endInterrupted(interrupted: readonly InterruptedTask[], reason: string): Promise<void> {
    for (const { task, stop } of interrupted) {
      approvals.adopt(task);
      if (task.state === "running") await endOpenCalls(task);
      const failure = failedResult(stop?.code ?? "bridge_restarted", stop?.reason ?? reason);
      const result = withSpent(failure, (await readSpent(store, task)) ?? nothingSpent);
      if (task.state === "queued") await recordEnd(await store.finishTaskIfQueued(task, buildFinish(task, result)));
      else if (task.parentSeq === null && task.request.onInterrupt === "retry" && (await store.requeueTaskIfRunning(task)))
        await approvals.release(task);
      else await recordEnd(await store.finishTaskIfRunning(task, buildFinish(task, result)));
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
