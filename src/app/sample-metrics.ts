import { readdirSync } from "node:fs";
import { statfs } from "node:fs/promises";
import path from "node:path";
import { withTimeout } from "@hak2i/async-kit";
import type { Approvals } from "../approvals/approvals.ts";
import type { Budgets } from "../budgets/budgets.ts";
import type { Config } from "../config/config.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Metrics } from "../metrics.ts";
import type { AdapterRegistry } from "../registry/adapter-registry.ts";
import type { Store } from "../store/store.ts";
import { MICROS_PER_USD } from "../task.ts";

/** The parts that the sampler reads. */
interface Sources {
  registry: Pick<AdapterRegistry, "list" | "cooldowns">;
  dispatcher: Pick<Dispatcher, "load">;
  approvals: Pick<Approvals, "describeWaiting">;
  store: Pick<Store, "oldestCallbackMs">;
  budgets: Pick<Budgets, "listAll">;
}

/** A database or a file system that does not answer must not delay the metrics, which are needed most at that time. */
const READ_LIMIT_MS = 1_000;

/** Creates the function that sets the metrics that are read when they are requested. Its cost does not grow with the number of tasks. */
export function createMetricsSampler(
  { dataDir, databaseUrl, databaseFile }: Pick<Config, "dataDir" | "databaseUrl" | "databaseFile">,
  { registry, dispatcher, approvals, store, budgets }: Sources,
  metrics: Metrics,
): () => Promise<void> {
  const directories = { data: dataDir, ...(databaseUrl === null && { database: path.dirname(databaseFile) }) };

  async function sampleDisk(directory: string, file: string): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(file);
    metrics.diskFree.set({ directory }, bavail * bsize);
    metrics.diskSize.set({ directory }, blocks * bsize);
  }

  async function sampleCallbacks(): Promise<void> {
    metrics.callbackOldest.set(((await store.oldestCallbackMs()) ?? 0) / 1000);
  }

  async function sampleBudgets(): Promise<void> {
    const counted = await budgets.listAll();
    for (const gauge of [metrics.budgetSpent, metrics.budgetReserved, metrics.budgetMax]) gauge.reset();
    for (const { limit, counts } of counted) {
      if (limit.maxMicros === null) continue;
      const labels = { budget: limit.name };
      metrics.budgetSpent.set(labels, counts.spentMicros / MICROS_PER_USD);
      metrics.budgetReserved.set(labels, counts.reservedMicros / MICROS_PER_USD);
      metrics.budgetMax.set(labels, limit.maxMicros / MICROS_PER_USD);
    }
  }

  return async () => {
    for (const { provider } of registry.list()) {
      metrics.queued.set({ provider }, dispatcher.load(provider).queued);
      metrics.adapterCoolingDown.set({ provider }, registry.cooldowns.find(provider) === null ? 0 : 1);
    }
    const { count, oldestMs } = approvals.describeWaiting();
    metrics.approvalsWaiting.set(count);
    metrics.approvalOldest.set(oldestMs / 1000);
    sampleProcess(metrics);
    const reads = [
      sampleCallbacks(),
      sampleBudgets(),
      ...Object.entries(directories).map(([directory, file]) => sampleDisk(directory, file)),
    ];
    // A metric that cannot be read keeps its last value.
    await withTimeout(Promise.allSettled(reads), READ_LIMIT_MS, () => {});
  };
}

function sampleProcess({ residentMemory, openFiles, cpuTime, startTime }: Metrics): void {
  residentMemory.set(process.memoryUsage.rss());
  const { user, system } = process.cpuUsage();
  cpuTime.reset();
  cpuTime.inc((user + system) / 1e6);
  startTime.set(performance.timeOrigin / 1000);
  // Without the descriptor of the listing itself.
  if (process.platform === "linux") openFiles.set(readdirSync("/proc/self/fd").length - 1);
}
