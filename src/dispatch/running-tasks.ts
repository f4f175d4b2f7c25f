import type { AdapterEvent, ApprovalAnswer, ApprovalQuestion } from "#contract";
import type { Approvals } from "../approvals/approvals.ts";
import type { Metrics } from "../metrics.ts";
import type { ChildTasks } from "./child-tasks.ts";
import type { Run } from "./run-task.ts";

/** What adapters say of the tasks that they run. */
export interface AdapterCalls {
  onAdapterEvent(provider: string, event: AdapterEvent): void;
  /** A running task asks whether a tool call may go on; its clocks, and those of the tasks it belongs to, stand still meanwhile. */
  requestApproval(provider: string, question: ApprovalQuestion): Promise<ApprovalAnswer>;
}

/** What it takes to find the task that is meant. */
export interface AdapterCallsOptions {
  /** All runs, by the handle of their task. */
  runs: ReadonlyMap<string, Run>;
  children: Pick<ChildTasks, "ancestorsOf">;
  approvals: Pick<Approvals, "ask">;
  metrics: Metrics;
}

/** Takes what an adapter says to its own running task, and to those that wait for it. */
export function createAdapterCalls({ runs, children, approvals, metrics }: AdapterCallsOptions): AdapterCalls {
  const find = (provider: string, handle: string): Run | undefined => {
    const run = runs.get(handle);
    return run?.task.provider === provider ? run : undefined;
  };
  return {
    onAdapterEvent(provider, event) {
      const run = find(provider, event.taskId);
      if (run === undefined) {
        metrics.eventsDropped.inc({ provider, reason: "task" });
        return;
      }
      run.onEvent(event);
      for (const ancestor of children.ancestorsOf(run.task)) ancestor.touch();
    },
    async requestApproval(provider, question) {
      const run = find(provider, question.taskId);
      if (run === undefined || run.isOver) return { decision: "reject", reason: "The task is over." };
      const releases = [run, ...children.ancestorsOf(run.task)].map((held) => held.hold());
      try {
        return await approvals.ask(run.task, question, run.overSignal);
      } finally {
        for (const release of releases) release();
      }
    },
  };
}
