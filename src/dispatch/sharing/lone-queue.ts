import { createLeaveAdapter } from "./leave-adapter.ts";
import type { ShareQueue } from "./queue-sharing.ts";

/** Keeps the queue for this node, which runs all tasks. Tasks whose adapter is not available move to a fallback, or end at once. */
export const createLoneQueue: ShareQueue = (parts) => {
  const { store, adapters, scheduler, logger } = parts;
  const leaveAdapter = createLeaveAdapter(parts);

  async function clearLane(provider: string): Promise<void> {
    for (let task = await store.findQueuedTask(provider); task !== null; task = await store.findQueuedTask(provider))
      await leaveAdapter(task, adapters.describeOffline(provider));
  }

  return {
    refusesWhileDraining: true,
    findPlace: async () => null,
    isHeldByOthers: async () => false,
    mayStart: () => true,
    findRejection: () => null,
    async start() {
      for (const { provider } of scheduler.listLanes()) if (!adapters.isLoaded(provider)) await clearLane(provider);
    },
    onAdapterOffline: (provider) =>
      void clearLane(provider).catch((error: unknown) => logger.error({ err: error, provider }, "failed to move or end queued tasks")),
    onNodesRead() {},
    onQueueHint() {},
    close() {},
  };
};
