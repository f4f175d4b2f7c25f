import type { Hint, NewNode, NodeAdapter } from "../store/nodes/interface.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { Membership, MembershipEvents } from "./membership.ts";
import type { NodeDirectory } from "./node-directory.ts";

/** This node as it registers itself, without the digest of its settings. */
export type NodeDescription = Omit<NewNode, "settingsDigest">;

/** What a node reports about itself to operators. */
export interface NodeStatus {
  describeAdapters(): NodeAdapter[];
  isDraining(): boolean;
}

/** What a membership reports to the other nodes, and what it calls. */
export interface MemberOptions extends MembershipEvents {
  describeAdapters(): NodeAdapter[];
  /** Computes the digest of the settings that all nodes share. */
  digestSettings(): Promise<{ current(): string }>;
}

/** The nodes that share a database. A Bridge that is alone on its database is a cluster of one. */
export interface Cluster {
  readonly view: ClusterView;
  /** Maximum ms between two searches for what other nodes have stored, because a hint can be lost. Infinity if there are no others. */
  readonly searchMs: number;
  /** Calls the listener with each hint of another node. One listener only. */
  onHint(listener: (hint: Hint) => void): void;
  createDirectory(status: NodeStatus): NodeDirectory;
  createMembership(options: MemberOptions): Promise<Membership>;
}
