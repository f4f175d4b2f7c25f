import type { Connection } from "../engines/postgres/connection.ts";
import type { ReaderPool } from "../engines/postgres/reader-pool.ts";
import type { ClusterStore, NodeIdentity } from "./interface.ts";
import { createDeadNodeWrites } from "./postgres-dead-nodes.ts";
import { createDrainRequests } from "./postgres-drain.ts";
import { joinCluster } from "./postgres-join.ts";
import { createLeaseWrites } from "./postgres-lease.ts";
import { createPlacementReads } from "./postgres-placement-reads.ts";
import { createPlaceWrites } from "./postgres-places.ts";
import { createNodeReads } from "./postgres-reads.ts";
import { createRunningReads } from "./postgres-running-reads.ts";

interface PostgresClusterOptions {
  url: string;
  node: NodeIdentity;
  connect(): Promise<Connection>;
  reader: ReaderPool;
  /** Reports a change of the nodes to the others. */
  onChange(): void;
}

/** The nodes on a PostgreSQL database. */
export function createPostgresCluster({ url, node, connect, reader, onChange }: PostgresClusterOptions): ClusterStore & { close(): void } {
  const lease = createLeaseWrites({ connect, node });
  const deadNodes = createDeadNodeWrites(reader, node.id);
  let isNew = false;
  const announce = async <Result>(change: Promise<Result>): Promise<Result> => {
    const result = await change;
    onChange();
    return result;
  };

  async function forgetUnusedNodes(): Promise<number> {
    const count = await deadNodes.forgetUnusedNodes();
    if (count > 0) onChange();
    return count;
  }

  async function leave(): Promise<void> {
    await lease.leave();
    await deadNodes.releaseNode(node.id);
  }

  return {
    ...createNodeReads(reader),
    ...createPlacementReads(reader),
    ...createRunningReads(reader, node),
    ...createPlaceWrites(reader),
    ...deadNodes,
    ...lease,
    async join(description, options = {}) {
      await joinCluster(url, node, description, options);
      isNew = true;
    },
    async renewLease(report) {
      const now = await lease.renewLease(report);
      // The first renewal stores the adapters, without which the others would not use this node.
      if (isNew) onChange();
      isNew = false;
      return now;
    },
    isAnswering: () => reader.isAnswering,
    startDraining: () => announce(lease.startDraining()),
    requestDrain: (name) => announce(createDrainRequests(reader).requestDrain(name)),
    releaseNode: (id) => announce(deadNodes.releaseNode(id)),
    forgetNode: (name) => announce(deadNodes.forgetNode(name)),
    forgetUnusedNodes,
    leave: () => announce(leave()),
  };
}
