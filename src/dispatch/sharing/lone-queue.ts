import { failedResult } from "../../results/failed-result.ts";
import type { ShareQueue } from "./queue-sharing.ts";

/** Keeps the queue for this node, which runs all tasks. Tasks whose adapter is not available end at once. */
export const createLoneQueue: ShareQueue = ({ store, adapters, scheduler, endQueued, logger }) => {
  async function endAllQueued(provider: string): Promise<void> {
    const result = failedResult("adapter_offline", adapters.describeOffline(provider));
    for (let task = await store.findQueuedTask(provider); task !== null; task = await store.findQueuedTask(provider))
      await endQueued(task, result);
  }

  return {
    refusesWhileDraining: true,
    findPlace: async () => null,
    isHeldByOthers: async () => false,
    mayStart: () => true,
    findRejection: () => null,
    async start() {
      for (const { provider } of scheduler.listLanes()) if (!adapters.isLoaded(provider)) await endAllQueued(provider);
    },
    onAdapterOffline: (provider) =>
      void endAllQueued(provider).catch((error: unknown) => logger.error({ err: error, provider }, "failed to end queued tasks")),
    onNodesRead() {},
    onQueueHint() {},
    close() {},
  };
};
