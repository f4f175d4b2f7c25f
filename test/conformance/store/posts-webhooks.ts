import { describe, expect, onTestFinished, test } from "vitest";
import type { EventType } from "#contract";
import type { NewDelivery, WebhookKey } from "../../../src/store/posts/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import { newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

const DAY = 86_400_000;
const oncall: WebhookKey = { tenant: "default", webhook: "oncall" };
const page = { before: null, limit: 10 };
const ends: readonly EventType[] = ["execution.completed", "execution.failed"];

/** A delivery for tests. */
const newDelivery = (fields: Partial<NewDelivery> = {}): NewDelivery => ({
  ...{ ...oncall, id: "msg_1", type: "execution.completed", task: null, body: '{"type":"execution.completed"}' },
  ...fields,
});

/** Runs a task to its end. */
const end = async (store: Store, taskId: string, fields: Parameters<typeof newTask>[0] = {}) =>
  await store.finishTaskIfRunning(await started(store, { taskId, ...fields }), newFinish());

/** Checks the webhooks of a storage engine. */
export function webhookConformance(subject: StoreSubject): void {
  async function open(clock?: () => number) {
    const opened = await subject.open(clock);
    onTestFinished(() => opened.close());
    return opened;
  }

  describe(`webhooks in the store: ${subject.name}`, () => {
    test("webhooks begin at the end of the log, and read the events of their types and tenant with the summary of the task", async () => {
      const { store } = await open(() => 1_000);
      await end(store, "earlier");
      await store.addWebhooks(["oncall"]);
      expect(await store.readWebhookEvents(oncall, ends)).toMatchObject({ events: [], hasMore: false, isBehind: false });
      const request = { ...newTask().request, message: "Tidy up.\nSoon.", labels: { team: "docs" } };
      const asking = await started(store, { taskId: "asking", request });
      await store.insertApprovalIfRunning(asking, {
        ...{ approvalId: "apr_7", toolCallId: "call", toolName: "shell", shownInput: "{}", expiresInMs: 60_000 },
        event: () => ({ type: "tool.approval_requested", data: '{"approvalId":"apr_7","toolCallId":"call"}' }),
      });
      await end(store, "foreign", { tenant: "other", provider: "other" });
      const failed = {
        ...newFinish({ state: "failed", event: { type: "execution.failed", data: "{}" } }),
        result: { status: "error", errorCode: "timeout", error: "late", durationMs: 1, connection: "in-process" },
      } as const;
      await store.finishTaskIfRunning(asking, failed);
      const found = await store.readWebhookEvents(oncall, [...ends, "tool.approval_requested"]);
      const task = { seq: asking.seq, tenant: "default", taskId: "asking", parentTaskId: null, agentId: "agent", provider: "command" };
      const summary = { title: "Tidy up.", labels: { team: "docs" }, task, at: 1_000 };
      expect(found?.events).toEqual([
        expect.objectContaining({ ...summary, type: "tool.approval_requested", approvalId: "apr_7" }),
        expect.objectContaining({ ...summary, type: "execution.failed", approvalId: null, errorCode: "timeout" }),
      ]);
      expect(found).toMatchObject({ through: store.lastEventNumber(), hasMore: false });
      expect(await store.readWebhookEvents({ tenant: "default", webhook: "absent" }, ends)).toBeNull();
    });

    test("webhooks keep their position over a reopen, and of concurrent moves of one position, one stores its deliveries", async () => {
      const { store, reopen } = await open();
      await store.addWebhooks(["oncall"]);
      await end(store, "a");
      const { cursor = -1, through = -1 } = (await store.readWebhookEvents(oncall, ends)) ?? {};
      const move = { webhook: "oncall", from: cursor, to: through };
      const moved = await Promise.all(
        ["msg_1", "msg_2", "msg_3"].map((id) => store.addWebhookDeliveries({ deliveries: [newDelivery({ id })], move })),
      );
      expect(moved.toSorted()).toEqual([false, false, true]);
      const again = await reopen();
      await again.addWebhooks(["oncall"]);
      expect(await again.readWebhookEvents(oncall, ends)).toMatchObject({ cursor: through, events: [] });
      expect(await again.listWebhookDeliveries(oncall, undefined, page)).toHaveLength(1);
    });

    test("webhooks that are removed begin anew at the end of the log when they are added again", async () => {
      const { store } = await open();
      await store.addWebhooks(["oncall"]);
      await end(store, "a");
      await store.removeWebhooks(["oncall"]);
      expect(await store.readWebhookEvents(oncall, ends)).toBeNull();
      await store.addWebhooks(["oncall", "other"]);
      expect((await store.readWebhookEvents(oncall, ends))?.events).toEqual([]);
      expect((await store.readWebhookEvents({ ...oncall, webhook: "other" }, ends))?.events).toEqual([]);
    });

    test("webhooks that are added again begin at a given position, unless they have one or it is after the end of the log", async () => {
      const { store } = await open();
      const added = await store.addWebhooks(["oncall"]);
      const from = added.get("oncall") ?? -1;
      await end(store, "a");
      const last = store.lastEventNumber();
      expect(from).toBeLessThan(last);
      expect(await store.addWebhooks(["oncall", "late"], new Map([["late", last + 100]]))).toEqual(
        new Map([
          ["oncall", from],
          ["late", last],
        ]),
      );
      await store.removeWebhooks(["oncall"]);
      expect(await store.addWebhooks(["oncall"], new Map([["oncall", from]]))).toEqual(new Map([["oncall", from]]));
      expect((await store.readWebhookEvents(oncall, ends))?.events.map(({ task }) => task.taskId)).toEqual(["a"]);
      expect(await store.addWebhooks([])).toEqual(new Map());
    });

    test("webhooks read a long log in parts", async () => {
      const { store } = await open();
      await store.addWebhooks(["oncall"]);
      const task = await started(store);
      const texts = Array.from({ length: 700 }, () => ({ type: "execution.progress", data: "{}" }) as const);
      await store.appendEventsIfRunning(task, texts);
      await store.appendEventsIfRunning(task, texts);
      await store.finishTaskIfRunning(task, newFinish());
      const first = await store.readWebhookEvents(oncall, ends);
      expect(first).toMatchObject({ events: [], hasMore: true });
      await store.addWebhookDeliveries({ deliveries: [], move: { webhook: "oncall", from: first?.cursor ?? 0, to: first?.through ?? 0 } });
      const second = await store.readWebhookEvents(oncall, ends);
      expect(second).toMatchObject({ cursor: first?.through, hasMore: false });
      expect(second?.events.map(({ type }) => type)).toEqual(["execution.completed"]);
    });

    test("webhooks skip events that retention has deleted, and report it", async () => {
      let now = 0;
      const { store } = await open(() => now);
      await store.addWebhooks(["oncall"]);
      await end(store, "a");
      now = 40 * DAY;
      while ((await store.prune(7 * DAY, 100)) > 0);
      await end(store, "b");
      const found = await store.readWebhookEvents(oncall, ends);
      expect(found?.isBehind).toBe(true);
      expect(found?.events.map(({ task }) => task.taskId)).toEqual(["b"]);
    });

    test("webhooks find due deliveries by webhook, and settle each attempt once", async () => {
      let now = 1_000;
      const { store, reopen } = await open(() => now);
      const deliveries = [newDelivery(), newDelivery({ id: "msg_2", webhook: "other" }), newDelivery({ id: "msg_3", tenant: "beta" })];
      await store.addWebhookDeliveries({ deliveries });
      const keys = [oncall, { ...oncall, webhook: "other" }, { ...oncall, tenant: "beta" }, { ...oncall, webhook: "absent" }];
      const dueKeys = await store.listDueWebhooks(keys);
      expect(new Set(dueKeys)).toEqual(new Set(keys.slice(0, 3)));
      expect(await store.listDueWebhooks([])).toEqual([]);
      const [due, ...more] = await store.claimDueDeliveries(oncall, 9, new Set());
      expect([due, more]).toMatchObject([{ ...newDelivery(), attempts: 0, roundAttempts: 0, createdAt: 1_000 }, []]);
      expect(await store.claimDueDeliveries(oncall, 9, new Set([due?.seq ?? 0]))).toEqual([]);
      const posted = { seq: due?.seq ?? 0, attempts: 0 };
      const failed = { state: "pending", nextInMs: 5_000, lastStatus: 500, lastError: "http_500" } as const;
      const settled = await Promise.all([posted, posted].map((post) => store.settleDeliveryIfPending(post, failed)));
      expect(new Set(settled)).toEqual(new Set([1, null]));
      expect(await store.claimDueDeliveries(oncall, 9, new Set())).toEqual([]);
      const again = await reopen();
      expect(await again.nextWebhookInMs(keys)).toBe(5_000);
      expect(await again.nextWebhookInMs(keys.slice(1))).toBeNull();
      now = 6_000;
      const [retry] = await again.claimDueDeliveries(oncall, 9, new Set());
      expect(retry).toMatchObject({ attempts: 1, roundAttempts: 1, lastStatus: 500, lastError: "http_500" });
      const dead = { state: "dead", nextInMs: null, lastStatus: null, lastError: "timeout" } as const;
      expect(await again.settleDeliveryIfPending({ seq: posted.seq, attempts: 1 }, dead)).toBe(2);
      expect(await again.countWebhookDeliveries("default", ["oncall", "other", "absent"])).toEqual([
        { webhook: "oncall", pending: 0, dead: 1 },
        { webhook: "other", pending: 1, dead: 0 },
        { webhook: "absent", pending: 0, dead: 0 },
      ]);
    });

    test("webhooks are due at once after their release, unless they were settled", async () => {
      let now = 1_000;
      const { store } = await open(() => now);
      await store.addWebhookDeliveries({ deliveries: [newDelivery(), newDelivery({ id: "msg_2" })] });
      const claimed = await store.claimDueDeliveries(oncall, 9, new Set());
      const [first, second] = claimed.map(({ seq, attempts }) => ({ seq, attempts }));
      if (first === undefined || second === undefined) throw new Error("Two deliveries are due.");
      now = 2_000;
      await store.settleDeliveryIfPending(first, { state: "pending", nextInMs: 5_000, lastStatus: 500, lastError: "http_500" });
      await store.releaseDeliveries([first, second]);
      await store.releaseDeliveries([]);
      expect((await store.claimDueDeliveries(oncall, 9, new Set())).map(({ seq }) => seq)).toEqual([second.seq]);
    });

    test("webhooks redeliver dead deliveries only, in a new round, by their webhook and tenant", async () => {
      const { store } = await open(() => 1_000);
      await store.addWebhookDeliveries({ deliveries: [newDelivery()] });
      expect(await store.redeliverWebhookIfDead(oncall, "msg_1")).toBeNull();
      const [due] = await store.claimDueDeliveries(oncall, 1, new Set());
      const dead = { state: "dead", nextInMs: null, lastStatus: 410, lastError: "http_410" } as const;
      await store.settleDeliveryIfPending({ seq: due?.seq ?? 0, attempts: 0 }, dead);
      for (const key of [
        { ...oncall, tenant: "beta" },
        { ...oncall, webhook: "other" },
      ]) {
        expect(await store.redeliverWebhookIfDead(key, "msg_1")).toBeNull();
        expect(await store.findWebhookDelivery(key, "msg_1")).toBeNull();
        expect(await store.listWebhookDeliveries(key, undefined, page)).toEqual([]);
      }
      const redelivered = await store.redeliverWebhookIfDead(oncall, "msg_1");
      expect(redelivered).toMatchObject({ id: "msg_1", state: "pending", attempts: 1, roundAttempts: 0, body: newDelivery().body });
      expect(await store.claimDueDeliveries(oncall, 1, new Set())).toMatchObject([{ id: "msg_1" }]);
    });

    test("list deliveries newest first, by keyset and state", async () => {
      const { store } = await open();
      for (const id of ["a", "b", "c"]) await store.addWebhookDeliveries({ deliveries: [newDelivery({ id })] });
      const [newest, next] = await store.listWebhookDeliveries(oncall, undefined, { before: null, limit: 2 });
      expect([newest?.id, next?.id]).toEqual(["c", "b"]);
      expect(await store.listWebhookDeliveries(oncall, "pending", { before: next?.seq ?? 0, limit: 2 })).toMatchObject([{ id: "a" }]);
      expect(await store.listWebhookDeliveries(oncall, "dead", page)).toEqual([]);
    });

    test("delete old deliveries, and those of a deleted task", async () => {
      let now = 0;
      const { store } = await open(() => now);
      const task = await end(store, "a");
      await store.addWebhookDeliveries({ deliveries: [newDelivery({ id: "old" })] });
      now = 8 * DAY;
      await store.addWebhookDeliveries({ deliveries: [newDelivery({ id: "young" }), newDelivery({ id: "ofTask", task: task?.seq ?? 0 })] });
      expect(await store.deleteTaskIfEnded("default", "a")).toBe("deleted");
      while ((await store.prune(7 * DAY, 1)) > 0);
      expect((await store.listWebhookDeliveries(oncall, undefined, page)).map(({ id }) => id)).toEqual(["young"]);
    });

    test("webhooks are stored once, and not for a task that was deleted in the meantime", async () => {
      const { store } = await open();
      await store.addWebhooks(["oncall"]);
      const task = await end(store, "a");
      const { cursor = -1, through = -1 } = (await store.readWebhookEvents(oncall, ends)) ?? {};
      const offline = newDelivery({ id: "offline" });
      // The answer to the first one was lost.
      for (let attempt = 0; attempt < 2; attempt += 1) expect(await store.addWebhookDeliveries({ deliveries: [offline] })).toBe(true);
      expect(await store.deleteTaskIfEnded("default", "a")).toBe("deleted");
      const late = newDelivery({ id: "late", task: task?.seq ?? 0 });
      expect(await store.addWebhookDeliveries({ deliveries: [late], move: { webhook: "oncall", from: cursor, to: through } })).toBe(true);
      expect((await store.listWebhookDeliveries(oncall, undefined, page)).map(({ id }) => id)).toEqual(["offline"]);
    });

    test("webhooks are counted up to 10,000, so that a count of very many does not delay others", async () => {
      const { store } = await open();
      const deliveries = Array.from({ length: 10_001 }, (_, index) => newDelivery({ id: `msg_${index}` }));
      await store.addWebhookDeliveries({ deliveries: [...deliveries, newDelivery({ id: "other", webhook: "other" })] });
      expect(await store.countWebhookDeliveries("default", ["oncall", "other"])).toEqual([
        { webhook: "oncall", pending: 10_000, dead: 0 },
        { webhook: "other", pending: 1, dead: 0 },
      ]);
    });

    test("webhooks do not wait longer after the system clock was set back", async () => {
      let now = 10 * DAY;
      const { store } = await open(() => now);
      await store.addWebhookDeliveries({ deliveries: [newDelivery()] });
      now = DAY;
      expect(await store.listDueWebhooks([oncall])).toEqual([oncall]);
      expect(await store.claimDueDeliveries(oncall, 1, new Set())).toMatchObject([{ id: "msg_1" }]);
    });
  });
}
