import { expect, onTestFinished, test } from "vitest";
import type { NewDelivery, WebhookEvent } from "../../src/store/posts/interface.ts";
import type { Store } from "../../src/store/store.ts";
import { createLogFollower } from "../../src/webhooks/log-follower.ts";
import { defaultTypes, type Subscription, type WebhookFilter } from "../../src/webhooks/subscription.ts";
import { newFinish, newTask, started } from "../conformance/store/fixtures.ts";
import { openTestStore } from "../support/database-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const TENANT = "default";

const newSubscription = (name: string, filter: WebhookFilter = {}): Subscription => ({
  ...{ name, tenant: TENANT, url: "http://127.0.0.1:1/", types: defaultTypes, signingKeys: [], headers: {} },
  filter,
});

const toDelivery = ({ name }: Subscription, { type, task }: WebhookEvent): NewDelivery => ({
  ...{ id: `${name} ${task.taskId} ${type}`, tenant: TENANT, webhook: name, type, task: task.seq, body: "{}" },
});

async function open(): Promise<Store> {
  const store = await openTestStore(await temporaryDirectory());
  onTestFinished(() => store.close());
  return store;
}

/** Starts a follower with its own version of the file. `reload` replaces that version, `read` starts to read the log. */
async function follow(store: Store, first: readonly Subscription[]) {
  let present = first;
  const follower = createLogFollower({
    ...{ store, toDelivery, subscriptions: () => present, onDeliveries() {}, onSkipped() {} },
    onFault: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => follower.close());
  await follower.start();
  return {
    follower,
    read: () => follower.wakeSoon(),
    reload(next: readonly Subscription[]): void {
      present = next;
      follower.onChanged();
    },
  };
}

const end = async (store: Store, taskId: string): Promise<void> => {
  await store.finishTaskIfRunning(await started(store, { taskId }), newFinish());
};

const listTasks = async (store: Store, webhook: string): Promise<string[]> => {
  const deliveries = await store.listWebhookDeliveries({ tenant: TENANT, webhook }, undefined, { before: null, limit: 5_000 });
  return deliveries.map(({ id }) => id.split(" ")[1] ?? "").toSorted();
};

const hasPosition = async (store: Store, webhook: string): Promise<boolean> =>
  (await store.readWebhookEvents({ tenant: TENANT, webhook }, ["execution.completed"])) !== null;

test("the pages that a follower reads after a reload are matched by the new filter", async () => {
  const store = await open();
  await store.addWebhooks(["oncall"]);
  const task = await started(store, newTask({ taskId: "long" }));
  for (let batch = 0; batch < 3; batch += 1)
    await store.appendEventsIfRunning(
      task,
      Array.from({ length: 700 }, () => ({ type: "execution.progress", data: "{}" }) as const),
    );
  await store.finishTaskIfRunning(task, newFinish());
  const none = [newSubscription("oncall", { provider: "absent" })];
  let isReloaded = false;
  const reading: Store = Object.create(store, {
    readWebhookEvents: {
      async value(...input: Parameters<Store["readWebhookEvents"]>) {
        const page = await store.readWebhookEvents(...input);
        if (!isReloaded) reload(none.map((one) => ({ ...one, filter: {} })));
        isReloaded = true;
        return page;
      },
    },
  });
  const { reload } = await follow(reading, none);
  await expect.poll(() => listTasks(store, "oncall")).toEqual(["long"]);
});

test("a follower does not read many events again and again that no filter matches", async () => {
  const store = await open();
  const types = ["callback.dead"] as const;
  const { read } = await follow(store, [{ ...newSubscription("oncall"), types }]);
  const page = async () => await store.readWebhookEvents({ tenant: TENANT, webhook: "oncall" }, types);
  // The first position without a match is stored at once, and a later one only if it is far enough.
  await end(store, "first");
  read();
  await expect.poll(async () => (await page())?.cursor).toBeGreaterThan(0);
  const { cursor } = (await page()) ?? { cursor: 0 };
  for (let number = 0; number < 60; number += 1) await end(store, `excluded-${number}`);
  read();
  await expect.poll(async () => ((await page())?.cursor ?? 0) - cursor).toBeGreaterThanOrEqual(100);
});

test("nodes with two versions of the file keep the positions of both, and lose no event", async () => {
  const store = await open();
  const [common, added, removed] = ["common", "added", "removed"].map((name) => newSubscription(name)) as [
    Subscription,
    Subscription,
    Subscription,
  ];
  const removals: string[] = [];
  const observed: Store = Object.create(store, {
    removeWebhooks: {
      async value(names: readonly string[]) {
        await store.removeWebhooks(names);
        removals.push(...names);
      },
    },
  });
  const old = await follow(store, [common, removed]);
  const young = await follow(observed, [common, removed]);
  expect(await hasPosition(store, "removed")).toBe(true);
  young.reload([common, added]);
  await expect.poll(() => hasPosition(store, "added")).toBe(true);
  expect(removals).toEqual(["removed"]);

  // A node that still has the previous version restores the position of the webhook that only it knows, and no other.
  old.read();
  await expect.poll(() => hasPosition(store, "removed")).toBe(true);
  const tasks = ["a", "b", "c", "d"];
  for (const taskId of tasks) {
    await end(store, taskId);
    for (const { read } of [old, young]) read();
  }
  for (const webhook of ["common", "added", "removed"]) await expect.poll(() => listTasks(store, webhook)).toEqual(tasks);

  old.reload([common, added]);
  await expect.poll(async () => [await hasPosition(store, "added"), await hasPosition(store, "removed")]).toEqual([true, false]);
});

test("a webhook that one node has removed gets the events that follow from a node whose file still contains it", async () => {
  const store = await open();
  const oncall = newSubscription("oncall");
  const old = await follow(store, [oncall]);
  const young = await follow(store, [oncall]);
  const tasks = ["a", "b", "c", "d"];
  await end(store, "a");
  old.read();
  await expect.poll(() => listTasks(store, "oncall")).toEqual(["a"]);
  young.reload([]);
  await expect.poll(() => hasPosition(store, "oncall")).toBe(false);
  for (const taskId of tasks.slice(1)) await end(store, taskId);
  old.read();
  await expect.poll(() => listTasks(store, "oncall")).toEqual(tasks);
});

test("a webhook that was removed before the first pass of a node gets the events that follow its start", async () => {
  const store = await open();
  const oncall = newSubscription("oncall");
  const removing: Store = Object.create(store, {
    readWebhookEvents: {
      async value(...input: Parameters<Store["readWebhookEvents"]>) {
        if (isRemoved) return store.readWebhookEvents(...input);
        isRemoved = true;
        await store.removeWebhooks(["oncall"]);
        await end(store, "a");
        return null;
      },
    },
  });
  let isRemoved = false;
  await follow(removing, [oncall]);
  await expect.poll(() => listTasks(store, "oncall")).toEqual(["a"]);
});
