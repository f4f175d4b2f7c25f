import type { Logger } from "pino";
import type { Metrics } from "../metrics.ts";
import type { ClusterStore } from "../store/nodes/interface.ts";

interface ReaperOptions {
  cluster: Pick<ClusterStore, "takeExpiredNode" | "releaseNode" | "listNodes" | "forgetUnusedNodes">;
  /** Whether this node has been in contact with the database for so long that all living nodes have renewed their leases. */
  isInTouch(): boolean;
  endTasksOf(node: { id: string; name: string }): Promise<number>;
  intervalMs: number;
  metrics: Pick<Metrics, "nodes">;
  logger: Logger;
}

/**
 * Creates the reaper, which looks for nodes whose lease is over and ends their tasks. After a failure of the database, all leases are over,
 * so it takes no node before `isInTouch`. It also forgets nodes that were dead for long and have no agents.
 */
export function createReaper({ cluster, isInTouch, endTasksOf, intervalMs, metrics, logger }: ReaperOptions) {
  let timer: NodeJS.Timeout | undefined;
  let reaping: Promise<void> = Promise.resolve();
  let isClosed = false;

  function schedule(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      reaping = reap()
        .catch((error: unknown) => logger.warn({ err: error }, "failed to look for dead nodes"))
        .then(schedule);
    }, intervalMs);
  }

  async function reap(): Promise<void> {
    const nodes = await cluster.listNodes();
    const count = (state: string): number => nodes.filter((node) => (node.isAlive ? node.state : "gone") === state).length;
    for (const state of ["live", "draining", "gone"] as const) metrics.nodes.set({ state }, count(state));
    if (nodes.some(({ state, agents }) => state === "gone" && agents === 0)) await cluster.forgetUnusedNodes();
    if (!isInTouch()) return;
    const dead = await cluster.takeExpiredNode();
    if (dead === null) return;
    logger.warn({ node: dead.name }, "node is dead");
    const tasks = await endTasksOf(dead);
    await cluster.releaseNode(dead.id);
    logger.info({ node: dead.name, tasks }, "ended the tasks of a dead node");
  }

  return {
    start: schedule,
    /** Resolves when no dead node is being handled. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await reaping;
    },
  };
}
