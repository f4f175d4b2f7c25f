import { failedResult } from "../../results/failed-result.ts";
import type { Store } from "../../store/store.ts";
import type { Task } from "../../task.ts";
import type { FindFallback } from "../admission/choose-candidate.ts";
import type { TaskCancellation } from "../end/cancel-task.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { TaskQueue } from "../scheduler/task-queue.ts";

interface LeaveAdapterOptions {
  store: Pick<Store, "moveTaskIfQueued">;
  scheduler: Pick<Scheduler, "removeQueued" | "addQueued">;
  queue: Pick<TaskQueue, "fillSlots">;
  findFallback: FindFallback;
  endQueued: TaskCancellation["endQueued"];
}

/** Moves a queued task, which its adapter cannot run for this reason, to its first fallback that can. Ends it if there is none. */
export type LeaveAdapter = (task: Task, reason: string) => Promise<void>;

/** Creates the function that takes a queued task away from an adapter that cannot run it. */
export function createLeaveAdapter({ store, scheduler, queue, findFallback, endQueued }: LeaveAdapterOptions): LeaveAdapter {
  return async (task, reason) => {
    const { tenant, agentId, provider, node: place = null } = task;
    const next = await findFallback(task.request, { tenant, agentId, provider, place }, reason);
    if (next === null) await endQueued(task, failedResult("adapter_offline", reason));
    else if (await store.moveTaskIfQueued(task, next)) {
      scheduler.removeQueued(task);
      scheduler.addQueued({ ...task, provider: next.provider });
      queue.fillSlots(next.provider);
    }
  };
}
