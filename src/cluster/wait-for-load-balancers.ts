import { withTimeout } from "@hak2i/async-kit";
import type { ClusterView } from "./cluster-view.ts";

/** How long load balancers send requests to a node that is not ready any more, at most: two of their usual health checks. */
const HEALTH_CHECKS_MS = 5_000;
const LOOK_MS = 250;

interface LoadBalancerOptions {
  view: Pick<ClusterView, "self" | "nodes" | "refresh">;
  /** Throws if this node has lost its database. */
  checkInTouch(): Promise<void>;
  limitMs: number;
}

/**
 * Waits until load balancers have noticed that this node drains, at most `limitMs`. Returns earlier when no other node can take the
 * requests, or when this node has lost its database. Never rejects.
 */
export async function waitForLoadBalancers({ view, checkInTouch, limitMs }: LoadBalancerOptions): Promise<void> {
  const hasSuccessor = (): boolean => view.nodes().some(({ id, state, isAlive }) => id !== view.self.id && state === "live" && isAlive);
  const isInTouch = (): Promise<boolean> =>
    checkInTouch().then(
      () => true,
      () => false,
    );
  const totalMs = Math.min(HEALTH_CHECKS_MS, limitMs);
  const end = performance.now() + totalMs;
  // In a rolling restart, the node that takes the requests may have started after the last read.
  if (await isInTouch()) await withTimeout(view.refresh(), totalMs, () => {});
  while (performance.now() < end && hasSuccessor() && (await isInTouch()))
    await new Promise((resolve) => void setTimeout(resolve, LOOK_MS));
}
