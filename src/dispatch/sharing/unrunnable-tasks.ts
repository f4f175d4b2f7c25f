import type { Logger } from "pino";
import type { ClusterView } from "../../cluster/cluster-view.ts";
import type { AvailableAdapters, Obstacle } from "../../registry/available-adapters.ts";
import type { ClusterStore, QueuedNeeds } from "../../store/nodes/interface.ts";
import type { LeaveAdapter } from "./leave-adapter.ts";
import { pauseAfterReading } from "./pause-after-reading.ts";

interface UnrunnableTasksOptions {
  cluster: Pick<ClusterStore, "listQueuedNeeds" | "findTaskThatNeeds" | "freeTasks">;
  view: ClusterView;
  adapters: Pick<AvailableAdapters, "findRunner">;
  /** For how long tasks wait for a node that could run them. */
  graceMs: number;
  leaveAdapter: LeaveAdapter;
  logger: Logger;
}

/**
 * Creates the check of queued tasks that no node can run any more, because their node, a tag or their adapter is gone. They move to a
 * fallback that a node can run, or end. The first node that is alive does it for all.
 */
export function createUnrunnableTasks({ cluster, view, adapters, graceMs, leaveAdapter, logger }: UnrunnableTasksOptions) {
  /** When no node was first seen that could run these tasks, in ms of the monotonic clock, by their needs as JSON. */
  let blockedSince = new Map<string, number>();
  let isChecking = false;
  let nextAt = 0;

  const findNode = (id: string) => view.nodes().find((node) => node.id === id);

  function findObstacle(group: QueuedNeeds): Obstacle | null {
    if (isOrphaned(group)) return { kind: "node", text: "The node of the parent task is not running." };
    const { provider, node, needs } = group;
    return adapters.findRunner({ provider, needs, place: node }).obstacle;
  }

  /** Whether these are children whose node was forgotten or is given up. They cannot run elsewhere. */
  function isOrphaned({ node, isChild }: QueuedNeeds): boolean {
    if (!isChild || node === null || node === view.self.id) return false;
    const known = findNode(node);
    return known === undefined || view.isGivenUp(known);
  }

  /** Whether these tasks may only start on a node that has no agents any more: it was forgotten, or is dead and lost their files. */
  function isStranded({ node, isChild }: QueuedNeeds): boolean {
    if (isChild || node === null || node === view.self.id) return false;
    const known = findNode(node);
    return known === undefined || (!known.isAlive && known.files !== "local");
  }

  async function check(): Promise<void> {
    const startedAt = performance.now();
    const groups = await cluster.listQueuedNeeds();
    nextAt = performance.now() + pauseAfterReading(performance.now() - startedAt);
    const blocked = new Map<string, number>();
    for (const group of groups) {
      if (group.node !== null && isStranded(group)) await cluster.freeTasks(group.node);
      const obstacle = findObstacle(group);
      if (obstacle === null) continue;
      const key = JSON.stringify([group.provider, group.node, group.needs, group.isChild]);
      const since = blockedSince.get(key) ?? startedAt;
      blocked.set(key, since);
      // The view has waited for a node that is gone already.
      const hasWaited = obstacle.kind === "node" && group.node !== null && findNode(group.node) !== undefined;
      if (hasWaited || startedAt - since >= graceMs) await clear(group);
    }
    blockedSince = blocked;
  }

  /** Moves or ends the tasks of a group one by one, each only if it is still queued, until a node can run them again. */
  async function clear(group: QueuedNeeds): Promise<void> {
    for (let obstacle = findObstacle(group); obstacle !== null; obstacle = findObstacle(group)) {
      const task = await cluster.findTaskThatNeeds(group);
      if (task === null) return;
      await leaveAdapter(task, obstacle.text);
    }
  }

  const isFirst = (): boolean => view.nodes().find(({ isAlive }) => isAlive)?.id === view.self.id;

  async function run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logger.warn({ err: error }, "failed to move or end the tasks that no node can run");
    }
  }

  return {
    /** Checks the queue in the background, unless another node does or the last check was recent. Call it whenever the nodes were read. */
    check(): void {
      if (!isFirst()) blockedSince.clear();
      if (isChecking || !isFirst() || performance.now() < nextAt) return;
      isChecking = true;
      void run(check).then(() => {
        isChecking = false;
      });
    },
    /** Ends the children that wait for an offline adapter of this node. They cannot run elsewhere, and their parents wait. */
    endChildren: (provider: string): Promise<void> => run(() => clear({ provider, node: view.self.id, needs: [], isChild: true })),
  };
}
