import { expect, test } from "vitest";
import type { ClusterNode, ClusterView, NodeAdapter } from "../../src/cluster/cluster-view.ts";
import type { RegisteredAdapter } from "../../src/registry/adapter-registry.ts";
import { createAvailableAdapters, type RunnerQuery } from "../../src/registry/available-adapters.ts";
import { createOfflineHealth } from "../../src/registry/health-checks.ts";
import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";
import { loneView } from "../dispatch/engine.ts";

const adapter = createInMemoryAdapter();
const entry = (provider: string, status: "healthy" | "degraded" | "offline", loaded: RegisteredAdapter["adapter"] = adapter) => ({
  provider,
  adapter: loaded,
  health: { ...createOfflineHealth("reason"), status, checkedAt: null },
});
const entries: RegisteredAdapter[] = [
  entry("healthy", "healthy"),
  entry("degraded", "degraded"),
  entry("offline", "offline"),
  entry("broken", "offline", null),
];
const adapters = createAvailableAdapters(
  {
    get: (provider) => entries.find((one) => one.provider === provider),
    list: () => entries,
  },
  loneView,
);

test.each([
  ["healthy", true, true],
  ["degraded", true, true],
  ["offline", true, false],
  ["broken", true, false],
  ["absent", false, false],
])("an adapter that is %s is loaded: %s, and can run tasks: %s", (provider, isLoaded, isOnline) => {
  expect(adapters.isLoaded(provider)).toBe(isLoaded);
  expect(adapters.findOnline(provider)).toBe(isOnline ? adapter : null);
  expect(adapters.describeOffline(provider)).toContain(isLoaded ? "is offline" : "BRIDGE_ADAPTERS");
});

test("all loaded adapters are listed, and the capabilities of those that can run tasks", () => {
  expect(adapters.listNames()).toEqual(["healthy", "degraded", "offline", "broken"]);
  const capabilities = adapter.capabilities();
  expect(adapters.listCapabilities()).toEqual([
    { provider: "healthy", capabilities },
    { provider: "degraded", capabilities },
  ]);
});

const now = Date.now();

/** A node with these adapters, by provider. */
const node = (
  name: string,
  fields: Partial<ClusterNode> = {},
  adapters: Record<string, NodeAdapter["health"]> = { remote: "healthy" },
) => ({
  ...{ id: `id-${name}`, incarnation: "1", name, url: null, version: "1", tags: [], files: "local" as const, settingsDigest: "" },
  ...{ state: "live" as const, leaseUntil: now + 60_000, isAlive: true, overdueMs: -60_000, startedAt: now, skewMs: 0, agents: 0 },
  adapters: Object.entries(adapters).map(([provider, health]) => ({
    ...{ provider, health, capabilities: adapter.capabilities(), running: 1, maxConcurrent: 4, checkedAt: now },
  })),
  ...fields,
});
const dead = { isAlive: false, overdueMs: 1000 };
const nodes: ClusterNode[] = [
  node("a", { tags: ["eu"] }, { remote: "offline", shared: "healthy" }),
  node("b", { tags: ["gpu"] }),
  node("long-dead", { ...dead, overdueMs: 3_600_000 }, { lost: "healthy" }),
  node("restarting", dead),
  node("moved", { ...dead, files: "shared" }),
];
const view: ClusterView = {
  ...loneView,
  nodes: () => nodes,
  isGivenUp: ({ isAlive, overdueMs }) => !isAlive && overdueMs > 60_000,
};
const clustered = createAvailableAdapters(
  { get: (provider) => entries.find((one) => one.provider === provider), list: () => entries },
  view,
);
const here = { isHere: true, isAlive: true, adapter };
const elsewhere = { isHere: false, isAlive: true, adapter: null };

test.each<[string, RunnerQuery, object | string]>([
  ["an adapter of this node", { provider: "healthy", needs: [], place: null }, here],
  ["an adapter of this node, by name", { provider: "healthy", needs: ["node:self"], place: null }, here],
  ["an adapter of another node", { provider: "remote", needs: [], place: null }, elsewhere],
  ["an adapter of another node with a tag", { provider: "remote", needs: ["gpu", "node:b"], place: null }, elsewhere],
  ["an agent of another node", { provider: "remote", needs: ["gpu"], place: "id-b" }, elsewhere],
  ["an agent of a node that may return", { provider: "remote", needs: [], place: "id-restarting" }, { ...elsewhere, isAlive: false }],
  ["an agent of a dead node that shares its files", { provider: "remote", needs: [], place: "id-moved" }, elsewhere],
  ["an agent of a forgotten node", { provider: "healthy", needs: [], place: "id-forgotten" }, here],
  [
    "an adapter that is offline everywhere",
    { provider: "offline", needs: ["gpu"], place: null },
    "adapter: The adapter offline is offline.",
  ],
  ["an adapter that only a dead node has", { provider: "lost", needs: [], place: null }, "adapter: The adapter lost is offline."],
  ["an adapter that no node has", { provider: "absent", needs: [], place: null }, "adapter: The adapter absent is not loaded."],
  [
    "a tag that no node has",
    { provider: "remote", needs: ["gpu", "tpu"], place: null },
    "tag: No live node with the adapter remote has the tag tpu.",
  ],
  [
    "a tag of a node without the adapter",
    { provider: "remote", needs: ["eu"], place: null },
    "tag: No live node with the adapter remote has the tag eu.",
  ],
  [
    "a tag that the place lacks",
    { provider: "remote", needs: ["eu"], place: "id-b" },
    "tag: The agent lives on the node b, which lacks the tag eu.",
  ],
  [
    "an agent of a dead node",
    { provider: "lost", needs: [], place: "id-long-dead" },
    "node: The agent lives on the node long-dead, which is not running.",
  ],
  [
    "an adapter that the place lacks",
    { provider: "healthy", needs: [], place: "id-b" },
    "adapter: The agent lives on the node b, which does not have the adapter healthy.",
  ],
  [
    "an adapter that is offline at the place",
    { provider: "remote", needs: [], place: "id-a" },
    "adapter: The agent lives on the node a, which reports an offline adapter remote.",
  ],
  ["an offline adapter of this place", { provider: "offline", needs: [], place: "self" }, "adapter: The adapter offline is offline."],
])("the search for a node finds the right one or the reason: %s", (_, query, expected) => {
  const { runner, obstacle } = clustered.findRunner(query);
  if (typeof expected === "string") expect(`${obstacle?.kind}: ${obstacle?.text}`).toMatch(expected);
  else expect(runner).toMatchObject({ ...expected, capabilities: adapter.capabilities() });
});

test("the adapters of other nodes follow the own ones, with their nodes and the sum of their loads", () => {
  expect(clustered.listNames()).toEqual(["healthy", "degraded", "offline", "broken", "lost", "remote", "shared"]);
  expect(clustered.listForeign()).toMatchObject([
    { provider: "remote", health: "healthy", running: 2, maxConcurrent: 8 },
    { provider: "shared", health: "healthy", running: 1, maxConcurrent: 4 },
  ]);
  expect(clustered.listNodesWith("remote")).toEqual(["a", "b"]);
  expect(clustered.listNodesWith("healthy")).toEqual(["self"]);
});

test("a node whose maximum of running tasks is 0 runs none of its tasks, and others do", () => {
  const find = (slots: number, others: ClusterNode[], place: string | null = null) => {
    const view: ClusterView = { ...loneView, nodes: () => others };
    const registry = { get: (provider: string) => entries.find((one) => one.provider === provider), list: () => entries };
    return createAvailableAdapters(registry, view, () => slots > 0).findRunner({ provider: "healthy", needs: [], place });
  };
  const other = (maxConcurrent: number): ClusterNode => {
    const { adapters: own, ...fields } = node("other", {}, { healthy: "healthy" });
    return { ...fields, adapters: own.map((one) => ({ ...one, maxConcurrent })) };
  };
  expect(find(1, [other(0)]).obstacle).toBeNull();
  expect(find(0, [other(1)]).obstacle).toBeNull();
  const text = "BRIDGE_MAX_CONCURRENT of healthy is 0 on all live nodes.";
  expect(find(0, [other(0)]).obstacle).toEqual({ kind: "slots", text });
  expect(find(0, []).obstacle).toEqual({ kind: "slots", text });
  const atOther = "The agent lives on the node other, which runs no tasks of healthy, because its BRIDGE_MAX_CONCURRENT is 0.";
  expect(find(1, [other(0)], "id-other").obstacle).toEqual({ kind: "slots", text: atOther });
});
