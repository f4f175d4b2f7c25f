import type { Logger } from "pino";
import type { Metrics } from "../metrics.ts";
import type { ClusterStore, NewNode } from "../store/nodes/interface.ts";
import type { ClusterView } from "./cluster-view.ts";
import { createLease, type LeaseEvents, type LeaseOptions } from "./lease.ts";
import { createReaper } from "./reaper.ts";
import { checkSharedFiles } from "./shared-files.ts";
import { waitForLoadBalancers } from "./wait-for-load-balancers.ts";

/** The part of the store that a membership uses. */
export type MemberStore = Pick<
  ClusterStore,
  | ("join" | "renewLease" | "isAnswering" | "startDraining" | "leave" | "settleSharedFiles")
  | ("listNodes" | "takeExpiredNode" | "releaseNode" | "forgetUnusedNodes")
>;

/** What a membership calls. */
export interface MembershipEvents extends LeaseEvents {
  /** Ends the tasks that a dead node has left running. Returns their number. */
  endTasksOf(node: { id: string; name: string }): Promise<number>;
}

/** What a membership uses. */
export interface MembershipOptions extends MembershipEvents {
  cluster: MemberStore;
  view: Pick<ClusterView, "self" | "nodes" | "refresh">;
  node: NewNode;
  /** The directory of the files of agents, which the nodes can share. */
  filesDir: string;
  report: LeaseOptions["report"];
  metrics: LeaseOptions["metrics"] & Pick<Metrics, "nodes">;
  logger: Logger;
}

/** A node among the nodes on one database. */
export interface Membership {
  /** Joins the cluster, and renews the lease from then on. Throws StartError. */
  join(signal: AbortSignal): Promise<void>;
  /** Marks this node as draining, and waits until load balancers send their requests to other nodes, at most `limitMs`. Never rejects. */
  drain(limitMs: number): Promise<void>;
  /** Ends the membership, so that the other nodes do not wait for the end of the lease. Never rejects. */
  leave(): Promise<void>;
  /** Throws `storage_unavailable` if this node has lost its database. */
  checkInTouch(): Promise<void>;
}

/** Creates the membership of this node: its lease, and its part in ending the tasks of dead nodes. */
export function createMembership(options: MembershipOptions): Membership {
  const { cluster, view, node, filesDir, logger } = options;
  const lease = createLease(options);
  const { isInTouch, checkInTouch } = lease;
  const reaper = createReaper({ ...options, isInTouch, intervalMs: Math.min(5_000, node.leaseMs / 6) });

  return {
    async join(signal) {
      if (node.files === "shared") await checkSharedFiles(cluster, filesDir);
      const onWait = (): void =>
        logger.warn({ node: node.name }, "waiting for the end of the lease of another process with this node's id or name");
      await cluster.join(node, { signal, onWait });
      await lease.start();
      reaper.start();
    },
    async drain(limitMs) {
      await cluster.startDraining().catch((error: unknown) => logger.warn({ err: error }, "failed to mark this node as draining"));
      await waitForLoadBalancers({ view, checkInTouch, limitMs });
    },
    async leave() {
      const wasMember = lease.isHeld();
      lease.stop();
      await reaper.close();
      await lease.waitForRenewal();
      if (wasMember) await cluster.leave().catch((error: unknown) => logger.warn({ err: error }, "failed to leave the cluster"));
    },
    checkInTouch,
  };
}
