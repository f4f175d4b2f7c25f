import type { TaskRun } from "../../task.ts";
import type { OperationKind } from "../engines/postgres/operation-kind.ts";
import type { NewEvent } from "./interface.ts";

/** Events to append to the log of a running task. */
interface Append {
  /** `restarts` is the fence: a node whose task was requeued meanwhile cannot append to its next run. */
  task: TaskRun;
  events: readonly NewEvent[];
}

/** Appends events to the logs of running tasks; returns false for tasks that have ended or were requeued. */
export const appendOperation: OperationKind<Append, boolean> = {
  name: "append",
  keyOf: ({ task }) => task.seq,
  isRepeatable: true,
  overlaps: () => true,
  // The guard needs no statement, because the rows of the tasks are locked.
  run: async (inputs, transaction) =>
    inputs.map(({ task, events }) => {
      const stored = transaction.lockedTask(task.seq);
      if (stored?.state !== "running" || stored.restarts !== task.restarts) return { output: false };
      return { output: true, events: events.map((event) => ({ ...event, task })) };
    }),
};
