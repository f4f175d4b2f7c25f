import { describe, expect, test } from "vitest";
import type { CallbackSettlement } from "../../../src/store/posts/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Task } from "../../../src/task.ts";
import { createOpen, newFinish, type StoreSubject, started } from "./fixtures.ts";

/** Checks the callback outbox in a storage engine. */
export function callbackConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
    describe("callbacks", () => {
      const again: CallbackSettlement = { state: "pending", nextInMs: 1_000, lastStatus: 500, lastError: "http_500", event: null };
      const dead: CallbackSettlement = {
        state: "dead",
        nextInMs: null,
        lastStatus: 500,
        lastError: "http_500",
        event: () => ({ type: "callback.dead", data: "{}" }),
      };
      const delivered: CallbackSettlement = {
        state: "delivered",
        nextInMs: null,
        lastStatus: 204,
        lastError: null,
        event: (attempts: number) => ({ type: "callback.delivered", data: JSON.stringify({ attempts }) }),
      };

      const queueOf = (host: string, tenant = "default") => ({ tenant, receiver: `http://${host}.test` });
      async function endWithCallback(store: Store, url: string, taskId = "task-1", tenant = "default"): Promise<Task> {
        const task = await started(store, { taskId, tenant });
        return (await store.finishTaskIfRunning(task, newFinish({}, url))) as Task;
      }

      test("callbacks keep their scheduled time after a reopen", async () => {
        let now = 10_000;
        const { store, reopen } = await open(() => now);
        const task = await endWithCallback(store, "http://a.test/x");
        expect(await store.settleCallbackIfPending({ task, attempts: 0 }, again)).toBe(1);
        const settled = await store.findCallback(task.seq);
        expect(settled).toMatchObject({ state: "pending", attempts: 1, nextAttemptAt: 11_000, lastStatus: 500, lastError: "http_500" });
        const reopened = await reopen();
        expect(await reopened.listDueCallbackQueues()).toEqual([]);
        expect(await reopened.nextCallbackInMs()).toBe(1_000);
        now = 11_000;
        expect(await reopened.listDueCallbackQueues()).toEqual([queueOf("a")]);
        expect(await reopened.listDueCallbacks(queueOf("a"), 1)).toMatchObject([{ roundAttempts: 1, body: '{"finishedAt":10000}' }]);
      });

      test("callbacks do not change after they are delivered", async () => {
        const { store, published } = await open();
        const task = await endWithCallback(store, "http://a.test/x");
        expect(await store.settleCallbackIfPending({ task, attempts: 0 }, delivered)).toBe(1);
        expect(await store.findCallback(task.seq)).toMatchObject({ state: "delivered", attempts: 1, nextAttemptAt: null });
        expect(await store.settleCallbackIfPending({ task, attempts: 1 }, again)).toBeNull();
        expect(await store.redeliverCallbackIfDead(task.seq)).toBeNull();
        expect(await store.listDueCallbacks(queueOf("a"), 9)).toEqual([]);
        expect(published.at(-1)).toMatchObject({ type: "callback.delivered", data: '{"attempts":1}' });
      });

      test.each([
        ["delivered", delivered],
        ["pending", again],
        ["dead", dead],
      ])("callbacks count each POST once: of two settlements of one POST, the second changes nothing (%s)", async (state, settlement) => {
        const { store, published } = await open(() => 1_000);
        const task = await endWithCallback(store, "http://a.test/x");
        const [posted] = await store.listDueCallbacks(queueOf("a"), 1);
        if (posted === undefined) throw new Error("no callback is due");
        const both = [store.settleCallbackIfPending(posted, settlement), store.settleCallbackIfPending(posted, delivered)];
        expect(await Promise.all(both)).toEqual([1, null]);
        expect(await store.findCallback(task.seq)).toMatchObject({ state, attempts: 1, lastStatus: settlement.lastStatus });
        expect(published.filter(({ type }) => type.startsWith("callback."))).toHaveLength(state === "pending" ? 0 : 1);
        // A redelivery starts a new round, and the settlement of an earlier POST does not belong to it.
        await store.redeliverCallbackIfDead(task.seq);
        expect(await store.settleCallbackIfPending(posted, delivered)).toBeNull();
        expect(await store.findCallback(task.seq)).toMatchObject({ attempts: 1 });
      });

      test("callbacks can be redelivered when dead: in a new round with the same body and trace, and the count of attempts continues", async () => {
        const { store } = await open(() => 5_000);
        const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" };
        const task = (await store.finishTaskIfRunning(await started(store, trace), newFinish({}, "http://a.test/x"))) as Task;
        await store.settleCallbackIfPending({ task, attempts: 0 }, again);
        await store.settleCallbackIfPending({ task, attempts: 1 }, dead);
        expect(await store.redeliverCallbackIfDead(task.seq)).toMatchObject({ state: "pending", attempts: 2, nextAttemptAt: 5_000 });
        expect(await store.redeliverCallbackIfDead(task.seq)).toBeNull();
        expect(await store.listDueCallbacks(queueOf("a"), 9)).toMatchObject([
          { attempts: 2, roundAttempts: 0, body: '{"finishedAt":5000}', ...trace },
        ]);
      });

      test("callbacks keep a history of their attempts, across redeliveries and a reopen", async () => {
        let now = 10_000;
        const { store, reopen } = await open(() => now);
        const task = await endWithCallback(store, "http://a.test/x");
        expect(await store.findCallbackDetails(task.seq)).toEqual({ ...(await store.findCallback(task.seq)), history: [] });
        const text = "a\nb\r\n\t\"\\u0000\" 'ü' \u2028 😀 \ufffd $1 ? ||";
        const attempt = { startedMsAgo: 40, durationMs: 30, response: { text, isTruncated: true } };
        await store.settleCallbackIfPending({ task, attempts: 0 }, { ...again, attempt });
        now = 20_000;
        const refused = { ...dead, lastStatus: null, lastError: "connection_refused" };
        await store.settleCallbackIfPending({ task, attempts: 1 }, { ...refused, attempt: { ...attempt, response: null } });
        await store.redeliverCallbackIfDead(task.seq);
        // A settlement that changes nothing adds nothing.
        expect(await store.settleCallbackIfPending({ task, attempts: 0 }, { ...again, attempt })).toBeNull();
        const last = { startedMsAgo: 0, durationMs: 0, response: { text: "", isTruncated: false } };
        await store.settleCallbackIfPending({ task, attempts: 2 }, { ...delivered, attempt: last });
        const history = [
          { number: 1, at: 9_960, status: 500, error: "http_500", durationMs: 30, response: text, responseTruncated: true },
          { number: 2, at: 19_960, status: null, error: "connection_refused", durationMs: 30, response: null, responseTruncated: false },
          { number: 3, at: 20_000, status: 204, error: null, durationMs: 0, response: "", responseTruncated: false },
        ];
        expect(await store.findCallbackDetails(task.seq)).toMatchObject({ state: "delivered", attempts: 3, history });
        const reopened = await reopen();
        expect((await reopened.findCallbackDetails(task.seq))?.history).toEqual(history);
        expect(await reopened.findCallbackDetails(task.seq + 1)).toBeNull();
      });

      test("callbacks keep the last 20 attempts, and those before an attempt without details", async () => {
        const { store } = await open();
        const task = await endWithCallback(store, "http://a.test/x");
        const attempt = { startedMsAgo: 0, durationMs: 1, response: { text: "line 1\nline 2", isTruncated: false } };
        const numbers = async () => (await store.findCallbackDetails(task.seq))?.history.map(({ number }) => number);
        const upTo = (last: number) => Array.from({ length: Math.min(last, 20) }, (_, index) => Math.max(last - 20, 0) + index + 1);
        for (let attempts = 0; attempts < 23; attempts += 1) {
          await store.settleCallbackIfPending({ task, attempts }, { ...again, attempt });
          expect(await numbers()).toEqual(upTo(attempts + 1));
        }
        // As a node of an earlier release settles it.
        await store.settleCallbackIfPending({ task, attempts: 23 }, again);
        expect(await numbers()).toEqual(upTo(23));
        await store.settleCallbackIfPending({ task, attempts: 24 }, { ...again, attempt });
        expect(await numbers()).toEqual([...upTo(23).slice(1), 25]);
      });

      test("callbacks are due in order of their time per tenant and origin, and are listed newest first", async () => {
        let now = 0;
        const { store } = await open(() => now++);
        for (const [taskId, host] of [
          ["1", "a"],
          ["2", "b"],
          ["3", "a"],
          ["4", "a"],
        ] as const)
          await endWithCallback(store, `http://${host}.test/`, taskId);
        const foreign = await endWithCallback(store, "http://a.test/", "5", "other");
        expect(await store.listDueCallbackQueues()).toEqual([queueOf("a"), queueOf("b"), queueOf("a", "other")]);
        expect((await store.listDueCallbacks(queueOf("a"), 2)).map(({ task }) => task.taskId)).toEqual(["1", "3"]);
        const first = await store.listCallbacks("default", undefined, { before: null, limit: 3 });
        expect(first.map(({ task }) => task.taskId)).toEqual(["4", "3", "2"]);
        const rest = await store.listCallbacks("default", "pending", { before: first.at(-1)?.task.seq ?? 0, limit: 3 });
        expect(rest.map(({ task }) => task.taskId)).toEqual(["1"]);
        expect((await store.listDueCallbacks(queueOf("a", "other"), 9)).map(({ task }) => task.seq)).toEqual([foreign.seq]);
        expect(await store.listDueCallbacks(queueOf("b", "other"), 9)).toEqual([]);
        expect((await store.listCallbacks("other", undefined, { before: null, limit: 3 })).map(({ task }) => task.taskId)).toEqual(["5"]);
      });
    });
  });
}
