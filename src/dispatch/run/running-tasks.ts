import type { AdapterEvent, ApprovalAnswer, ApprovalQuestion } from "#contract";
import type { Approvals } from "../../approvals/approvals.ts";
import type { Metrics } from "../../metrics.ts";
import { type Task, type TaskIdentity, taskHandle } from "../../task.ts";
import type { Run } from "./run-task.ts";
import type { Spending } from "./spending.ts";

export type RunningTasks = ReturnType<typeof createRunningTasks>;

/** Creates the registry of running tasks. It routes the events and approval requests of adapters to the task that they belong to. */
export function createRunningTasks({ approvals, metrics }: { approvals: Approvals; metrics: Metrics }) {
  /** By task handle. */
  const runs = new Map<string, Run>();
  /** By task number. A run is released after it has left `runs`. */
  const unreleased = new Map<number, Promise<void>>();

  function add(run: Run): void {
    const { seq } = run.task;
    runs.set(taskHandle(run.task), run);
    unreleased.set(
      seq,
      run.released.then(() => void unreleased.delete(seq)),
    );
  }

  function findOfProvider(provider: string, handle: string): Run | undefined {
    const run = runs.get(handle);
    return run?.provider === provider ? run : undefined;
  }

  /** Finds the run of the parent task; undefined if the task has no parent or the parent does not run. */
  function findParent({ tenant, parentTaskId }: Pick<Task, "tenant" | "parentTaskId">): Run | undefined {
    return parentTaskId === null ? undefined : runs.get(taskHandle({ tenant, taskId: parentTaskId }));
  }

  /** A run and the runs of its ancestors, beginning with the run. */
  function listWithAncestors(run: Run): Run[] {
    const listed = [run];
    for (let ancestor = findParent(run.task); ancestor !== undefined; ancestor = findParent(ancestor.task)) listed.push(ancestor);
    return listed;
  }

  /** Pauses the clocks of a run and of its ancestors until the returned function is called. */
  function pauseClocks(run: Run): () => void {
    const resumes = listWithAncestors(run).map((one) => one.pauseClocks());
    return () => {
      for (const resume of resumes) resume();
    };
  }

  function onAdapterEvent(provider: string, event: AdapterEvent): void {
    const run = findOfProvider(provider, event.taskId);
    if (run === undefined) {
      metrics.eventsDropped.inc({ provider, reason: "task" });
      return;
    }
    run.onEvent(event);
    for (const ancestor of listWithAncestors(run).slice(1)) ancestor.touch();
  }

  async function requestApproval(provider: string, question: ApprovalQuestion): Promise<ApprovalAnswer> {
    const run = findOfProvider(provider, question.taskId);
    if (run === undefined || run.isOver) return { decision: "reject", reason: "The task has ended." };
    const resume = pauseClocks(run);
    try {
      return await approvals.ask(run.task, question, run.overSignal);
    } finally {
      resume();
    }
  }

  return {
    add,
    /** Returns the trace context that a running task passes on; null if there is none. */
    findTraceparent: (provider: string, handle: string): string | null => findOfProvider(provider, handle)?.traceparent ?? null,
    /** Removes a run whose runtime has ended. The task may run again already. */
    remove(run: Run): void {
      const handle = taskHandle(run.task);
      if (runs.get(handle) === run) runs.delete(handle);
    },
    find: (handle: string): Run | undefined => runs.get(handle),
    all: (): Run[] => [...runs.values()],
    findParent,
    /** The work tree in which the parent of a task runs; null if it runs in none. */
    findParentTree: (task: Task): string | null => findParent(task)?.tree() ?? null,
    listWithAncestors,
    pauseClocks,
    /** Whether a child task of a running task, or one of its descendants, has an open tool call. */
    isChildToolOpen: ({ tenant, taskId }: TaskIdentity): boolean =>
      [...runs.values()].some((run) => run.task.parentTaskId === taskId && run.task.tenant === tenant && run.isToolOpen()),
    /** Adds what a running task has spent so far to its parent, and so to the ancestors of the parent. */
    onSpent: (task: TaskIdentity, spending: Spending): void => findParent(task)?.setChildSpent(task.seq, spending),
    /** For each task number, a promise that resolves when the task's runtime has ended and its TMPDIR is removed. */
    unreleased: unreleased as ReadonlyMap<number, Promise<void>>,
    /**
     * Appends an event that an adapter emitted for one of its running tasks. It also resets the idle clocks of the task and of its
     * ancestors.
     */
    onAdapterEvent,
    /** Asks for a decision on a tool call. The clocks of the task and of its ancestors are paused until the answer. */
    requestApproval,
  };
}
