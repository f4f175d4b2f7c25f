import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ClusterNode, ClusterView } from "../../src/cluster/cluster-view.ts";
import { waitForLoadBalancers } from "../../src/cluster/wait-for-load-balancers.ts";
import { BridgeError } from "../../src/errors.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const nodeOf = (id: string, fields: Partial<ClusterNode> = {}) => ({ id, state: "live", isAlive: true, ...fields }) as ClusterNode;

/** Waits on the node `a` among these nodes. Returns how long it has waited so far, and whether it still waits. */
function startWait(nodes: ClusterNode[], limitMs = 30_000, refresh: ClusterView["refresh"] = async () => {}) {
  const self: ClusterView["self"] = { id: "a", name: "a", tags: [], files: "local" };
  const view: Pick<ClusterView, "self" | "nodes" | "refresh"> = { self, nodes: () => nodes, refresh };
  const membership = { checkInTouch: vi.fn<() => Promise<void>>(async () => {}) };
  let isOver = false;
  void waitForLoadBalancers({ view, checkInTouch: membership.checkInTouch, limitMs }).then(() => {
    isOver = true;
  });
  return { membership, isOver: () => isOver };
}

test("a node that drains waits for 5 seconds while another node is live", async () => {
  const { isOver } = startWait([nodeOf("a", { state: "draining" }), nodeOf("b")]);
  await vi.advanceTimersByTimeAsync(4_900);
  expect(isOver()).toBe(false);
  await vi.advanceTimersByTimeAsync(300);
  expect(isOver()).toBe(true);
});

test("the wait is not longer than the drain time", async () => {
  const { isOver } = startWait([nodeOf("b")], 1_000);
  await vi.advanceTimersByTimeAsync(900);
  expect(isOver()).toBe(false);
  await vi.advanceTimersByTimeAsync(300);
  expect(isOver()).toBe(true);
});

test("a node waits for load balancers also if the only other live node has just started", async () => {
  const nodes = [nodeOf("a")];
  const { isOver } = startWait(nodes, 30_000, async () => void nodes.push(nodeOf("b")));
  await vi.advanceTimersByTimeAsync(4_900);
  expect(isOver()).toBe(false);
  await vi.advanceTimersByTimeAsync(300);
  expect(isOver()).toBe(true);
});

test("a node that cannot read the other nodes does not wait longer than the drain time", async () => {
  const { isOver } = startWait([nodeOf("a")], 1_000, () => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(900);
  expect(isOver()).toBe(false);
  await vi.advanceTimersByTimeAsync(300);
  expect(isOver()).toBe(true);
});

test.each([
  ["there is no other node", [nodeOf("a")]],
  ["the other nodes drain, too", [nodeOf("a"), nodeOf("b", { state: "draining" })]],
  ["the other nodes are dead", [nodeOf("a"), nodeOf("b", { isAlive: false })]],
])("a node does not wait if %s", async (_, nodes) => {
  const { isOver } = startWait(nodes);
  await vi.advanceTimersByTimeAsync(0);
  expect(isOver()).toBe(true);
});

test("a node that loses its database stops waiting", async () => {
  const { membership, isOver } = startWait([nodeOf("b")]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(isOver()).toBe(false);
  membership.checkInTouch.mockRejectedValue(new BridgeError("storage_unavailable", "The database is away."));
  await vi.advanceTimersByTimeAsync(300);
  expect(isOver()).toBe(true);
});
