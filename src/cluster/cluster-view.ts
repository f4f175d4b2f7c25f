import type { Logger } from "pino";
import type { ClusterNode, ClusterStore, FilesMode } from "../store/nodes/interface.ts";

export type { ClusterNode, NodeAdapter } from "../store/nodes/interface.ts";

/** How often a node reads the others, if no hint arrives. */
const REFRESH_MS = 1000;

/** This node, as the others know it. */
export interface OwnNode {
  /** Stored in the data directory. */
  id: string;
  name: string;
  tags: readonly string[];
  files: FilesMode;
}

/** The nodes that share a database, as this node knows them. */
export interface ClusterView {
  readonly self: OwnNode;
  /** All registered nodes, sorted by name, also those that are not alive. Empty with SQLite. */
  nodes(): readonly ClusterNode[];
  /** Whether a node has been dead for so long that no task waits for its return. */
  isGivenUp(node: ClusterNode): boolean;
  /** Calls the listener after each read. It must not throw. */
  onRead(listener: () => void): void;
  /** Reads the nodes, from now on regularly. A failed read keeps what is known. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

interface ClusterViewOptions {
  self: OwnNode;
  cluster: Pick<ClusterStore, "listNodes">;
  /** For how long tasks wait for a dead node, after the end of its lease. */
  graceMs: number;
  logger: Logger;
}

/** Creates the view of a node on PostgreSQL. It is empty until it is refreshed for the first time. */
export function createClusterView({ self, cluster, graceMs, logger }: ClusterViewOptions): ClusterView {
  const listeners = new Set<() => void>();
  let nodes: readonly ClusterNode[] = [];
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> | null = null;
  /** Whether a refresh was requested during the read, which may have read older rows. */
  let isOutdated = false;
  let isClosed = false;

  async function read(): Promise<void> {
    try {
      nodes = byName(await cluster.listNodes());
    } catch (error) {
      if (!isClosed) logger.debug({ err: error }, "failed to read the nodes");
      return;
    }
    if (!isClosed) for (const listener of listeners) listener();
  }

  async function readUntilCurrent(): Promise<void> {
    clearTimeout(timer);
    do {
      isOutdated = false;
      await read();
    } while (isOutdated && !isClosed);
    reading = null;
    schedule();
  }

  function refresh(): Promise<void> {
    if (isClosed) return Promise.resolve();
    isOutdated = true;
    reading ??= readUntilCurrent();
    return reading;
  }

  function schedule(): void {
    if (!isClosed) timer = setTimeout(() => void refresh(), REFRESH_MS);
  }

  return {
    self,
    nodes: () => nodes,
    isGivenUp: ({ isAlive, overdueMs }) => !isAlive && overdueMs > graceMs,
    onRead: (listener) => void listeners.add(listener),
    refresh,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await reading;
    },
  };
}

const byName = (nodes: readonly ClusterNode[]): ClusterNode[] => nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
