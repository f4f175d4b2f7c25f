import type { TaskStore } from "../tasks/interface.ts";
import type { Hint } from "./interface.ts";

type Hinted = Pick<TaskStore, "insertTaskIfAbsent" | "requeueTaskIfRunning" | "requestStopIfRunning">;

/** Reports to the other nodes what these writes leave for them to do: a task to start, or a task to stop. */
export function hintWrites(writes: Hinted, send: (hint: Hint) => void): Hinted {
  return {
    async insertTaskIfAbsent(task, options) {
      const result = await writes.insertTaskIfAbsent(task, options);
      if (result.inserted && result.task.state === "queued") send(`queue:${task.provider}`);
      return result;
    },
    async requeueTaskIfRunning(task) {
      const isQueued = await writes.requeueTaskIfRunning(task);
      if (isQueued) send(`queue:${task.provider}`);
      return isQueued;
    },
    async requestStopIfRunning(task, stop) {
      const isRunning = await writes.requestStopIfRunning(task, stop);
      if (isRunning) send("stops");
      return isRunning;
    },
  };
}
