import { expect, test } from "vitest";
import { scaled } from "../../harness/machine.ts";
import { startBridgeProgram } from "../../support/bridge-program.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { dispatchAsking, listWanted, startSubscriber } from "../../webhooks/webhook-programs.ts";

async function startNodes(names: readonly string[]) {
  const { urlAt, port } = await createDatabase({ isEmpty: true });
  const subscriber = await startSubscriber(await temporaryDirectory());
  const start = async (name: string, directory: string) =>
    startBridgeProgram(directory, {
      ...subscriber.settings,
      BRIDGE_DATABASE_URL: urlAt(port),
      BRIDGE_NODE_NAME: name,
      BRIDGE_LEASE_SECONDS: "3",
    });
  const nodes = [];
  for (const name of names) nodes.push(await start(name, await temporaryDirectory()));
  return { nodes, ...subscriber };
}

const idsOf = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

test("of three nodes, each event of all of them reaches the subscriber once; after one was killed, at least once", {
  timeout: scaled(120_000),
}, async () => {
  const { nodes, received, ids } = await startNodes(["a", "b", "c"]);
  const [a, b, c] = nodes as [(typeof nodes)[number], (typeof nodes)[number], (typeof nodes)[number]];
  const before = idsOf("before", 24);
  await Promise.all(before.map((id, index) => dispatchAsking(nodes[index % 3] as typeof a, id)));
  const approvals = before.map((id) => `${id} tool.approval_requested`).toSorted();
  await expect.poll(() => received().toSorted(), { interval: 50 }).toEqual(approvals);

  const after = idsOf("after", 24);
  const dispatches = after.map((id, index) => dispatchAsking(nodes[index % 3] as typeof a, id));
  await Promise.race(dispatches);
  a.signal("SIGKILL");
  await Promise.allSettled(dispatches);
  // The other nodes end its tasks, and post what it had claimed.
  const missing = async () => (await listWanted(b, [...before, ...after])).filter((event) => !received().includes(event));
  await expect
    .poll(async () => (await listWanted(c, before)).filter((event) => event.endsWith("execution.failed")).length, { interval: 200 })
    .toBeGreaterThan(0);
  await expect.poll(missing, { interval: 500, timeout: 60_000 }).toEqual([]);
  // A repetition has the id of the first POST.
  expect(new Set(ids()).size).toBe(new Set(received()).size);
  expect(received().filter((event) => approvals.includes(event))).toHaveLength(24);
});

test("events that a node reads again from an earlier position, which another node has added again, are stored and posted once", async () => {
  const { urlAt, port, query } = await createDatabase();
  const { settings, received } = await startSubscriber(await temporaryDirectory());
  const node = await startBridgeProgram(await temporaryDirectory(), { ...settings, BRIDGE_DATABASE_URL: urlAt(port) });
  await Promise.all(idsOf("task", 3).map((id) => dispatchAsking(node, id)));
  const approvals = idsOf("task", 3).map((id) => `${id} tool.approval_requested`);
  await expect.poll(() => received().toSorted()).toEqual(approvals);
  await query("UPDATE webhook SET cursor = 0");
  await dispatchAsking(node, "last");
  await expect.poll(received).toContain("last tool.approval_requested");
  const stored = await query("SELECT 1 FROM webhook_delivery");
  expect([stored.length, received().length]).toEqual([4, 4]);
});

test("a delivery that a node has claimed is not due on another node, until the claim is over", async () => {
  const { urlAt, port } = await createDatabase();
  let now = 1_000;
  const clock = () => now;
  const [a, b] = [await openNode({ url: urlAt(port), node: "a", clock }), await openNode({ url: urlAt(port), node: "b", clock })];
  const key = { tenant: "default", webhook: "oncall" };
  const deliveries = idsOf("msg", 20).map((id) => ({ ...key, id, type: "execution.completed", task: null, body: "{}" }));
  await a.store.addWebhookDeliveries({ deliveries });
  const claims = await Promise.all([a, b, a, b].map(({ store }) => store.claimDueDeliveries(key, 5, new Set())));
  const claimed = claims.flat().map(({ id }) => id);
  expect(claimed.toSorted()).toEqual(deliveries.map(({ id }) => id).toSorted());
  expect(await b.store.listDueWebhooks([key])).toEqual([]);
  now += 30_000;
  expect(await b.store.listDueWebhooks([key])).toEqual([key]);
  const [again] = await b.store.claimDueDeliveries(key, 1, new Set());
  const settlement = { state: "delivered", nextInMs: null, lastStatus: 204, lastError: null } as const;
  const posted = { seq: again?.seq ?? 0, attempts: 0 };
  // The first node was only slow: one of the two POSTs counts.
  expect(await b.store.settleDeliveryIfPending(posted, settlement)).toBe(1);
  expect(await a.store.settleDeliveryIfPending(posted, settlement)).toBeNull();
  await Promise.all([a, b].map(({ store }) => store.close()));
});

test("a node that stops releases the deliveries that it has not posted, so that they are due at once", {
  timeout: scaled(120_000),
}, async () => {
  const { urlAt, port, query } = await createDatabase({ isEmpty: true });
  const responding = Promise.withResolvers<void>();
  let isOpen = false;
  const subscriber = await startSubscriber(await temporaryDirectory(), (response) => {
    if (isOpen) response.writeHead(204).end();
    else responding.resolve();
  });
  const environment = { ...subscriber.settings, BRIDGE_DATABASE_URL: urlAt(port), BRIDGE_LEASE_SECONDS: "3", BRIDGE_DRAIN_SECONDS: "0" };
  const start = async (name: string) => startBridgeProgram(await temporaryDirectory(), { ...environment, BRIDGE_NODE_NAME: name });
  const a = await start("a");
  await dispatchAsking(a, "task");
  // The subscriber has the first POST and does not answer.
  await responding.promise;
  isOpen = true;
  a.signal("SIGTERM");
  await a.exited;
  const claimed = await query("SELECT 1 FROM webhook_delivery WHERE state = 'pending' AND next_at > updated_at");
  expect(claimed).toEqual([]);
});
