import type { ExecutionResult } from "#contract";
import { encodeEventData } from "../../events/encode-event-data.ts";
import type { AdapterRegistry } from "../../registry/adapter-registry.ts";
import { DEFAULT_WAIT_SECONDS } from "../../requests/dispatch-schema.ts";
import type { Store } from "../../store/store.ts";
import { type Task, taskHandle } from "../../task.ts";
import type { AttemptRun } from "./attempt-run.ts";
import { nothingSpent } from "./spent.ts";

/** The parts that return tasks to the queue. */
export interface LimitWaitOptions {
  store: Store;
  cooldowns: AdapterRegistry["cooldowns"];
  /** Called when a task has returned to the queue until the end of a usage limit. */
  onPostponed(): Promise<void>;
}

/** Whether the task asks to wait for the end of a usage limit. */
export const mayWait = ({ request }: Task): boolean => request.whenLimited === "wait";

/** Creates what a run does about the usage limit of its vendor: it counts cooldowns, and returns a task that may wait to the queue. */
export function createLimitWait(task: Task, { store, cooldowns, onPostponed }: LimitWaitOptions) {
  /** The cooldown because of which no attempt was made. */
  let heldBy: ReturnType<typeof cooldowns.find> = null;
  /** The result that the cooldowns have counted. */
  let noted: ExecutionResult | null = null;

  /** Counts the end of an attempt once. */
  function noteEnd(provider: string, result: ExecutionResult): void {
    if (heldBy !== null || result === noted) return;
    noted = result;
    cooldowns.noteEnd(provider, taskHandle(task), result);
  }

  return {
    noteEnd,
    /** Returns why a task that may wait is not started, because its adapter cools down; null if it is started. */
    findHold(provider: string): string | null {
      heldBy = mayWait(task) ? cooldowns.find(provider) : null;
      return heldBy === null ? null : describeLimit(heldBy);
    },
    /** Returns the task to the queue until the end of a usage limit. Returns false if it may not wait, or not as long as that. */
    async postpone(result: ExecutionResult, attempt: AttemptRun): Promise<boolean> {
      if (!mayWait(task)) return false;
      if (heldBy === null && !(await attempt.mayBeReplaced("rate_limited"))) return false;
      noteEnd(attempt.provider, result);
      const limit = heldBy ?? cooldowns.find(attempt.provider);
      if (limit === null) return false;
      await attempt.meter.complete(result);
      const reason = describeLimit(limit);
      const isPostponed = await store.postponeTaskIfRunning(task, {
        ...{ startAfter: limit.until, maxWaitMs: (task.request.waitSeconds ?? DEFAULT_WAIT_SECONDS) * 1000, reason },
        // The next run reads what the children have spent from their own rows.
        spent: attempt.meter.own().shown ?? nothingSpent,
        event: { type: "execution.progress", data: encodeEventData({ waitingUntil: new Date(limit.until).toISOString(), reason }) },
      });
      if (isPostponed) void onPostponed();
      return isPostponed;
    },
  };
}

const describeLimit = ({ until }: { until: number }): string =>
  `The vendor of the model rejects calls until about ${new Date(until).toISOString()}, because of a usage limit.`;
