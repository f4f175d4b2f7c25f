import type { AdapterCapabilities } from "#contract";
import type { Task } from "../../task.ts";

/**
 * The nodes that share a PostgreSQL database. Writes concern the node of this process. Each write has its own time limit and is not
 * retried.
 */
export interface ClusterStore extends PlacementReads {
  /**
   * Registers this incarnation of the node. If a process with its id or its name may be alive, waits until that lease is over; an earlier
   * process in the same data directory has ended and is not waited for. Throws StartError if such a process renews its lease: the data
   * directory was copied, or the name is taken. `onWait` is called before the first wait. Rejects when the signal is aborted.
   */
  join(node: NewNode, options?: JoinOptions): Promise<void>;
  /** Renews the lease. Returns the clock of the database; null if other nodes have declared this node dead, or it was never registered. */
  renewLease(report: NodeReport): Promise<number | null>;
  /** Whether the database has answered the last connection of a read. */
  isAnswering(): boolean;
  /** Numbers of the tasks that are stored as running on this node. Empty if other nodes have declared it dead. */
  listOwnRunningTasks(): Promise<number[]>;
  /** Counts the dispatched tasks of a tenant and of one of its agents that run on all nodes. */
  countRunning(owner: { tenant: string; agentId: string }): Promise<{ ofTenant: number; ofAgent: number }>;
  /** Stops new tasks from starting on this node, except for children. */
  startDraining(): Promise<void>;
  /**
   * Stores the directory of the files that all nodes share, unless another node has done so. Returns what is stored: the path, and the id
   * that a file in the directory contains.
   */
  settleSharedFiles(directory: SharedFiles): Promise<SharedFiles>;
  /** Gives an agent that lives nowhere a place on a node. Returns the id of the node on which it lives now. */
  placeAgent(tenant: string, agentId: string, node: string): Promise<string>;
  /** Asks a node to drain and to exit, as SIGTERM does. It finds out when it reads the nodes. */
  requestDrain(name: string): Promise<"requested" | "absent" | "gone">;
  /** Removes this node from the live nodes at the end of the process, and frees what it holds for others. */
  leave(): Promise<void>;
  listNodes(): Promise<ClusterNode[]>;
  /**
   * Declares one other node dead whose lease is over, or finds a dead one that still has running tasks or agents of others; null if there
   * is none. From this commit on, the node can start no task. Other calls do not return the node for some time.
   */
  takeExpiredNode(): Promise<Pick<ClusterNode, "id" | "name" | "files"> | null>;
  /** Frees what a dead node holds for others: its origins and, unless its files are local, its agents. */
  releaseNode(id: string): Promise<void>;
  /**
   * Lets any node start the queued tasks that may only start on this one although their agents do not live there: they were stored while
   * the node released its agents or was forgotten.
   */
  freeTasks(node: string): Promise<void>;
  /** Forgets a dead node and its agents. A node counts as alive until its tasks have ended. */
  forgetNode(name: string): Promise<"forgotten" | "absent" | "alive">;
  /** Forgets the nodes that have been dead for a day and on which no agent lives. Returns their number. */
  forgetUnusedNodes(): Promise<number>;
}

/** The counts of requests that the nodes of a PostgreSQL database share. */
export interface RateStore {
  /** Adds requests by key to the current minute. Returns the sums of these keys. Has its own time limit and is not retried. */
  addRateCounts(counts: ReadonlyMap<string, number>): Promise<RateSums>;
}

/** Reads where agents live and where queued tasks may start. */
export interface PlacementReads {
  /** The id of the node on which an agent lives; null if it has not started a task yet. */
  findPlace(tenant: string, agentId: string): Promise<string | null>;
  /** Each combination of needs in the queue once. */
  listQueuedNeeds(): Promise<QueuedNeeds[]>;
  /** Any queued task that needs exactly this. */
  findTaskThatNeeds(needs: QueuedNeeds): Promise<Task | null>;
}

/** How the other nodes see the files of a node's agents: not at all, at the same path, or not at all and deleted with the node. */
export const filesModes = ["local", "shared", "ephemeral"] as const;

export type FilesMode = (typeof filesModes)[number];

/** Identifies a node and its present process. */
export interface NodeIdentity {
  /** Stored in the data directory, so that it survives restarts. */
  id: string;
  /** New at each start. */
  incarnation: string;
  /** Identifies the data directory itself. A copy of the directory, and the same directory on another host, have a different value. */
  home: string;
}

/** A Bridge process with its own data directory, as it registers itself. */
export interface NewNode {
  /** Unique among the nodes. */
  name: string;
  /** Where the other nodes reach it; null if they cannot. */
  url: string | null;
  version: string;
  tags: readonly string[];
  files: FilesMode;
  /** A digest of the settings that all nodes should share. */
  settingsDigest: string;
  leaseMs: number;
}

/** An adapter of a node, as other nodes see it. `checkedAt` is in ms since the epoch, and null before the first check. */
export interface NodeAdapter {
  provider: string;
  health: "healthy" | "degraded" | "offline";
  /** Null if it could not be loaded. */
  capabilities: AdapterCapabilities | null;
  running: number;
  maxConcurrent: number;
  checkedAt: number | null;
}

/** A registered node. A node whose lease is over does not count as alive. Times are ms since the epoch, by the clock of the database. */
export interface ClusterNode extends Pick<NodeIdentity, "id" | "incarnation">, Omit<NewNode, "leaseMs"> {
  state: "live" | "draining" | "gone";
  leaseUntil: number;
  /** Whether it is live or draining, and its lease is not over. */
  isAlive: boolean;
  /** For how long its lease has been over, by the clock of the database when the row was read; negative while it is not over. */
  overdueMs: number;
  startedAt: number;
  /** By how much its clock is ahead of that of the database. */
  skewMs: number;
  adapters: NodeAdapter[];
  /** Number of agents that live on it. */
  agents: number;
}

/** How a node waits until it can join. */
export interface JoinOptions {
  signal?: AbortSignal;
  onWait?(): void;
}

/** What a node reports each time it renews its lease. */
export interface NodeReport {
  leaseMs: number;
  settingsDigest: string;
  skewMs: number;
  adapters: readonly NodeAdapter[];
}

/** What the queued tasks of one group need to start. */
export interface QueuedNeeds {
  provider: string;
  /** The id of the only node that may start them; null if any node may. */
  node: string | null;
  /** Tags that the node must have. */
  needs: readonly string[];
  /** Whether a running task waits for them. */
  isChild: boolean;
}

/** A directory that all nodes mount at the same path. */
export interface SharedFiles {
  id: string;
  path: string;
}

/**
 * What a node reports to all nodes after a commit: new events, a task that waits for a provider, a stop request, a change of the nodes,
 * room in a budget, deliveries to webhooks that it will not post, or a due callback, with the id of the node that posts it, or `any` if no
 * node has its origin. A hint can be lost, so every node also polls.
 */
export type Hint = "events" | "stops" | "nodes" | "budgets" | "deliveries" | `queue:${string}` | `callbacks:${string}`;

/** Whether a hint concerns a node: only one node posts the callbacks of an origin. */
export const concernsNode = (hint: Hint, node: string): boolean =>
  !hint.startsWith("callbacks:") || hint === "callbacks:any" || hint === `callbacks:${node}`;

/** What all nodes have counted in the current minute of the database. */
interface RateSums {
  /** Requests by key, over all nodes. */
  sums: ReadonlyMap<string, number>;
  /** Milliseconds until the minute ends. */
  endsInMs: number;
}
