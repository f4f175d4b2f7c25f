import { isTerminal } from "../../events/event-feed.ts";
import type { EventLog } from "../../events/event-log.ts";
import type { Store } from "../../store/store.ts";
import { isFinal, type TaskProgress } from "../../task.ts";

/** The parts that report the end of a task. */
interface EndSources {
  store: Pick<Store, "findTaskProgress">;
  eventLog: Pick<EventLog, "follow">;
}

/**
 * Waits until the event log contains the terminal event of the task, whichever process ends the task, or until the signal is aborted.
 * Returns the task as it is stored, without its result, because many clients may wait for the same long one.
 */
export async function waitForEnd({ store, eventLog }: EndSources, task: TaskProgress, signal?: AbortSignal): Promise<TaskProgress> {
  if (isFinal(task.state)) return task;
  const { seq, tenant, taskId } = task;
  const find = async () => (await store.findTaskProgress(tenant, taskId)) ?? task;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const unfollow = eventLog.follow(
    { tenant, taskId, key: `end ${seq}`, matches: (event) => event.task.seq === seq && isTerminal(event), isEssential: true },
    wake,
  );
  signal?.addEventListener("abort", wake);
  if (signal?.aborted === true) wake();
  try {
    // The task may have ended before its events were followed.
    const now = await find();
    if (isFinal(now.state)) return now;
    await over;
    return await find();
  } finally {
    unfollow();
    signal?.removeEventListener("abort", wake);
  }
}

/** Creates the waits of clients, which end when their time is over or Bridge stops. */
export function createLimitedWaits(sources: EndSources) {
  const stopped = new AbortController();
  return {
    /** Resolves with the task, without its result, when it has ended, the time is over, or the signal is aborted. */
    waitForEnd(task: TaskProgress, timeoutMs: number, signal?: AbortSignal): Promise<TaskProgress> {
      const signals = [AbortSignal.timeout(timeoutMs), stopped.signal];
      return waitForEnd(sources, task, AbortSignal.any(signal === undefined ? signals : [...signals, signal]));
    },
    /** Makes all waits resolve now, because Bridge stops while other tasks are queued, or run on other nodes. */
    endWaits: (): void => stopped.abort(),
  };
}
