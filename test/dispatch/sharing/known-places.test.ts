import { expect, test } from "vitest";
import { createKnownPlaces } from "../../../src/dispatch/sharing/known-places.ts";
import type { ClusterNode } from "../../../src/store/nodes/interface.ts";

const newNode = (id: string, fields: Partial<ClusterNode> = {}): ClusterNode => ({
  ...{ id, incarnation: `${id}-1`, name: id, url: null, version: "0", tags: [], files: "local", settingsDigest: "" },
  ...{ state: "live", leaseUntil: 0, isAlive: true, overdueMs: -1, startedAt: 0, skewMs: 0, adapters: [], agents: 0 },
  ...fields,
});

/** Places in a store, and the reads of them. */
function open(place: string | null) {
  const cluster = { nodes: [newNode("a"), newNode("b")], place, reads: 0 };
  const places = createKnownPlaces({
    cluster: {
      async findPlace() {
        cluster.reads += 1;
        return cluster.place;
      },
    },
    view: { nodes: () => cluster.nodes },
  });
  return { cluster, find: (agentId = "agent") => places.find("default", agentId) };
}

test("a place is read once while its node is alive, for each agent", async () => {
  const { cluster, find } = open("b");
  expect([await find(), await find(), cluster.reads]).toEqual(["b", "b", 1]);
  expect([await find("other"), cluster.reads]).toEqual(["b", 2]);
});

test("an agent without a place is read each time", async () => {
  const { cluster, find } = open(null);
  expect([await find(), await find(), cluster.reads]).toEqual([null, null, 2]);
  cluster.place = "a";
  expect([await find(), await find(), cluster.reads]).toEqual(["a", "a", 3]);
});

test.each([
  ["is dead", { isAlive: false }],
  ["has started again", { incarnation: "b-2" }],
])("a place is read again when its node %s, because the agent may have moved", async (_, fields) => {
  const { cluster, find } = open("b");
  await find();
  cluster.nodes = [newNode("a"), newNode("b", fields)];
  cluster.place = "a";
  expect([await find(), await find(), cluster.reads]).toEqual(["a", "a", 2]);
});

test("without another node, no place is read", async () => {
  const { cluster, find } = open("a");
  cluster.nodes = [newNode("a")];
  expect([await find(), cluster.reads]).toEqual([null, 0]);
});
