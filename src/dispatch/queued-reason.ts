import type { AvailableAdapters } from "../adapters/available-adapters.ts";
import type { Store } from "../store/store.ts";
import type { TaskProgress } from "../task.ts";
import type { Scheduler } from "./scheduler.ts";

/** What a queued task waits for. */
export const queuedReasons = ["slot", "session", "quota", "node", "tag"] as const;
export type QueuedReason = (typeof queuedReasons)[number];

interface QueuedReasonOptions {
  store: Pick<Store, "findQueuedNeeds">;
  adapters: Pick<AvailableAdapters, "findRunner">;
  scheduler: Pick<Scheduler, "isHeldByQuota">;
}

/** Finds out what a task waits for; null if it is not queued. */
export async function findQueuedReason(
  task: TaskProgress,
  { store, adapters, scheduler }: QueuedReasonOptions,
): Promise<QueuedReason | null> {
  if (task.state !== "queued") return null;
  if (scheduler.isHeldByQuota(task)) return "quota";
  const found = await store.findQueuedNeeds(task.seq);
  // It has started in the meantime.
  if (found === null) return null;
  const { runner, obstacle } = adapters.findRunner({ provider: task.provider, needs: found.needs, place: found.node });
  if (obstacle?.kind === "tag") return "tag";
  if (runner?.isAlive !== true) return "node";
  return found.isSessionInUse ? "session" : "slot";
}
