import type { ClusterNode } from "./cluster-node.ts";
import { pause } from "./pause.ts";

/** What clients see of several nodes: one list of addresses, of which each request gets the next one that was ready at its last check. */
export interface LoadBalancer {
  /** Returns the address for the next request; null if no node is ready. */
  next(): string | null;
  close(): Promise<void>;
}

/** As in the deployment files. */
const CHECK_MS = 2_000;
const CHECK_LIMIT_MS = 1_000;

/** Starts to check whether the nodes are ready. Between two checks, requests go to nodes that may have begun to stop. */
export function startLoadBalancer(nodes: readonly ClusterNode[]): LoadBalancer {
  const closed = new AbortController();
  const ready = new Set<ClusterNode>();
  let turn = 0;

  async function check(node: ClusterNode): Promise<void> {
    if (await isReady(node)) ready.add(node);
    else ready.delete(node);
  }

  /** Checks of several nodes do not happen at the same moment. */
  async function checkRepeatedly(node: ClusterNode): Promise<void> {
    while (!closed.signal.aborted) {
      await check(node);
      await pause(CHECK_MS, closed.signal);
    }
  }
  const checking = Promise.all(nodes.map(checkRepeatedly));

  return {
    next() {
      const candidates = nodes.filter((node) => ready.has(node));
      turn += 1;
      return candidates[turn % Math.max(1, candidates.length)]?.url ?? null;
    },
    async close() {
      closed.abort();
      await checking;
    },
  };
}

async function isReady({ url }: ClusterNode): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(CHECK_LIMIT_MS) })).status === 200;
  } catch {
    return false;
  }
}
