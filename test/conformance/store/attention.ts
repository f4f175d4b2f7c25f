import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AttentionQuery } from "../../../src/store/attention/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import { newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

const query: AttentionQuery = { isAcknowledged: false, limit: 50, failedSince: 0, webhooks: ["oncall", "chat"] };
const origin = "https://receiver.example";
const url = `${origin}/results`;
const tenant = "default";

/** Runs a task that fails. */
async function fail(store: Store, taskId: string, fields: Parameters<typeof newTask>[0] = {}, callbackUrl?: string) {
  const task = await started(store, { taskId, ...fields });
  const result = { status: "error", errorCode: "timeout", error: "late", durationMs: 1, connection: "in-process" } as const;
  await store.finishTaskIfRunning(
    task,
    newFinish({ state: "failed", result, event: { type: "execution.failed", data: "{}" } }, callbackUrl),
  );
  return task;
}

/** Lets the callback of a completed task die. */
async function die(store: Store, taskId: string, fields: Parameters<typeof newTask>[0] = {}, callbackUrl = url) {
  const task = await started(store, { taskId, ...fields });
  await store.finishTaskIfRunning(task, newFinish({}, callbackUrl));
  await dieAgain(store, task, 0);
  return task;
}

async function dieAgain(store: Store, task: Awaited<ReturnType<typeof started>>, attempts: number): Promise<void> {
  const dead = { state: "dead", nextInMs: null, lastStatus: 500, lastError: "http_500", event: null } as const;
  expect(await store.settleCallbackIfPending({ task, attempts }, dead)).toBe(attempts + 1);
}

/** Lets a delivery die. */
async function dieDelivery(store: Store, id: string, { webhook = "oncall", task = null as number | null, attempts = 0 } = {}) {
  const body = '{"type":"execution.completed","data":{}}';
  await store.addWebhookDeliveries({ deliveries: [{ tenant, webhook, id, type: "execution.completed", task, body }] });
  const found = await store.findWebhookDelivery({ tenant, webhook }, id);
  const dead = { state: "dead", nextInMs: null, lastStatus: null, lastError: "timeout" } as const;
  expect(await store.settleDeliveryIfPending({ seq: found?.seq ?? 0, attempts }, dead)).toBe(attempts + 1);
}

const ids = async (store: Store, fields: Partial<AttentionQuery> = {}): Promise<string[]> =>
  (await store.readAttention(tenant, { ...query, ...fields })).items.map(({ kind, id }) => `${kind} ${id}`);

/** Checks what needs a person in a storage engine. */
export function attentionConformance(subject: StoreSubject): void {
  async function open(clock?: () => number) {
    const opened = await subject.open(clock);
    onTestFinished(() => opened.close());
    return opened;
  }

  describe(`what needs a person in the store: ${subject.name}`, () => {
    test("what needs a person is every pending approval, recent failure, dead callback and dead delivery of the tenant, with what it concerns", async () => {
      let now = 1_000;
      const { store } = await open(() => now);
      const asking = await started(store, { taskId: "asking", request: { ...newTask().request, message: "Tidy up.\nSoon." } });
      await store.insertApprovalIfRunning(asking, {
        ...{ approvalId: "apr_1", toolCallId: "call", toolName: "shell", shownInput: "{}", expiresInMs: 60_000 },
        event: () => ({ type: "tool.approval_requested", data: '{"approvalId":"apr_1","toolCallId":"call"}' }),
      });
      await fail(store, "old");
      now = 2_000;
      await fail(store, "new");
      await fail(store, "foreign", { tenant: "other" });
      await fail(store, "child", { parent: asking, provider: "other" });
      await die(store, "dead");
      await dieDelivery(store, "msg_1", { task: asking.seq });
      await dieDelivery(store, "msg_2");
      await dieDelivery(store, "msg_3", { webhook: "removed" });
      const { items, counts, receivers } = await store.readAttention(tenant, query);
      const task = (taskId: string) => ({ taskId, agentId: "agent", provider: "command" });
      const none = { receiver: null, acknowledgement: null };
      expect(items).toEqual([
        { kind: "approval", id: "apr_1", at: 1_000, task: task("asking"), title: "Tidy up.", detail: "shell", ...none },
        { kind: "failure", id: "new", at: 2_000, task: task("new"), title: "work", detail: "timeout", ...none },
        { kind: "failure", id: "old", at: 1_000, task: task("old"), title: "work", detail: "timeout", ...none },
        { ...none, kind: "callback", id: "dead", at: 2_000, task: task("dead"), title: "work", detail: "http_500", receiver: origin },
        { ...none, kind: "delivery", id: "msg_2", at: 2_000, task: null, title: null, detail: "timeout", receiver: "oncall" },
        {
          ...none,
          kind: "delivery",
          id: "msg_1",
          at: 2_000,
          task: task("asking"),
          title: "Tidy up.",
          detail: "timeout",
          receiver: "oncall",
        },
      ]);
      expect(counts).toEqual({ approval: 1, failure: 2, callback: 1, delivery: 2 });
      expect(receivers).toEqual([
        { kind: "callback", receiver: origin, count: 1 },
        { kind: "delivery", receiver: "oncall", count: 2 },
      ]);
      expect(await ids(store, { failedSince: 1_500, limit: 1 })).toEqual([
        "approval apr_1",
        "failure new",
        "callback dead",
        "delivery msg_2",
      ]);
    });

    test("what needs a person is nothing of a probe", async () => {
      const { store } = await open();
      const probe = { agentId: "bridge-doctor" };
      await fail(store, `doctor-${randomUUID()}`, probe);
      const { seq } = await die(store, `doctor-${randomUUID()}`, probe);
      await dieDelivery(store, "msg_1", { task: seq });
      expect(await store.readAttention(tenant, query)).toEqual({
        ...{ items: [], receivers: [] },
        counts: { approval: 0, failure: 0, callback: 0, delivery: 0 },
      });
    });

    test("what needs a person is every fault of a caller who uses the agent of probes, or a similar id", async () => {
      const { store } = await open();
      await fail(store, "doctor-nightly", { agentId: "bridge-doctor" });
      await die(store, `doctor-${randomUUID()}`);
      expect((await store.readAttention(tenant, query)).counts).toEqual({ approval: 0, failure: 1, callback: 1, delivery: 0 });
    });

    test("what needs a person is not what was acknowledged, which is listed with its acknowledgment, over a reopen", async () => {
      const { store, reopen } = await open(() => 5_000);
      await fail(store, "failed");
      await die(store, "dead");
      await dieDelivery(store, "msg_1");
      for (const [kind, id] of [
        ["failure", "failed"],
        ["callback", "dead"],
        ["delivery", "msg_1"],
      ] as const) {
        for (const foreign of ["other", "default"]) {
          const isOwn = foreign === tenant;
          expect(await store.isFault({ tenant: foreign, kind, id })).toBe(isOwn);
          expect(await store.acknowledgeFaults({ tenant: foreign, kind, id }, "ada", 10)).toBe(isOwn ? 1 : 0);
        }
        expect(await store.acknowledgeFaults({ tenant, kind, id }, "bob", 10)).toBe(0);
        expect(await store.isFault({ tenant, kind, id: "absent" })).toBe(false);
      }
      const again = await reopen();
      expect(await ids(again)).toEqual([]);
      const acknowledged = await again.readAttention(tenant, { ...query, isAcknowledged: true });
      expect(acknowledged.items.map(({ kind, acknowledgement }) => [kind, acknowledgement])).toEqual([
        ["failure", { by: "ada", at: 5_000 }],
        ["callback", { by: "ada", at: 5_000 }],
        ["delivery", { by: "ada", at: 5_000 }],
      ]);
      expect(acknowledged.counts).toEqual({ approval: 0, failure: 1, callback: 1, delivery: 1 });
    });

    test("what needs a person is again a callback or delivery that was acknowledged, redelivered, and has died again", async () => {
      const { store } = await open();
      const task = await die(store, "dead");
      await dieDelivery(store, "msg_1");
      await store.acknowledgeFaults({ tenant, kind: "callback" }, "ada", 10);
      await store.acknowledgeFaults({ tenant, kind: "delivery" }, "ada", 10);
      await store.redeliverCallbackIfDead(task.seq);
      await store.redeliverWebhookIfDead({ tenant, webhook: "oncall" }, "msg_1");
      expect([await ids(store), await ids(store, { isAcknowledged: true })]).toEqual([[], []]);
      await dieAgain(store, task, 1);
      await dieDelivery(store, "msg_1", { attempts: 1 });
      expect(await ids(store)).toEqual(["callback dead", "delivery msg_1"]);
    });

    test("what needs a person is again a task that fails after its acknowledged predecessor with this id was deleted", async () => {
      const { store } = await open();
      await fail(store, "task-1");
      await store.acknowledgeFaults({ tenant, kind: "failure", id: "task-1" }, "ada", 1);
      expect(await store.deleteTaskIfEnded(tenant, "task-1")).toBe("deleted");
      await fail(store, "task-1");
      expect(await ids(store)).toEqual(["failure task-1"]);
    });

    test("what needs a person can be acknowledged for a receiver, until a time, and in parts", async () => {
      let now = 1_000;
      const { store } = await open(() => now);
      await die(store, "other-origin", {}, "https://other.example/");
      await dieDelivery(store, "msg_chat", { webhook: "chat" });
      for (let second = 1; second <= 3; second += 1) {
        now = second * 1_000;
        await fail(store, `failed-${second}`);
        await die(store, `dead-${second}`);
        await dieDelivery(store, `msg_${second}`);
      }
      expect(await store.acknowledgeFaults({ tenant, kind: "callback", receiver: origin, until: 2_000 }, "ada", 1)).toBe(1);
      expect(await store.acknowledgeFaults({ tenant, kind: "callback", receiver: origin, until: 2_000 }, "ada", 10)).toBe(1);
      expect(await store.acknowledgeFaults({ tenant, kind: "delivery", receiver: "oncall", until: 2_000 }, "ada", 10)).toBe(2);
      expect(await store.acknowledgeFaults({ tenant, kind: "failure", since: 2_000, until: 2_000 }, "ada", 10)).toBe(0);
      expect(await store.acknowledgeFaults({ tenant, kind: "failure", since: 999, until: 2_000 }, "ada", 10)).toBe(2);
      expect(await ids(store)).toEqual([
        ...["failure failed-3", "callback dead-3", "callback other-origin", "delivery msg_3", "delivery msg_chat"],
      ]);
    });

    test("what needs a person is again an adapter whose acknowledgments were forgotten", async () => {
      const { store, reopen } = await open(() => 5_000);
      expect(await store.acknowledgeAdapter(tenant, "command", "ada")).toBe(true);
      expect(await store.acknowledgeAdapter(tenant, "command", "bob")).toBe(false);
      expect(await store.acknowledgeAdapter(tenant, "claude", "ada")).toBe(true);
      const again = await reopen();
      expect([...(await again.listAdapterAcknowledgements(tenant))].toSorted()).toEqual([
        ["claude", { by: "ada", at: 5_000 }],
        ["command", { by: "ada", at: 5_000 }],
      ]);
      expect((await again.listAdapterAcknowledgements("other")).size).toBe(0);
      await again.forgetAdapterAcknowledgements("command");
      expect([...(await again.listAdapterAcknowledgements(tenant)).keys()]).toEqual(["claude"]);
    });
  });
}
