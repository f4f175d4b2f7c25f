import { expect, onTestFinished, test } from "vitest";
import { createCallbackClaims } from "../../src/callbacks/callback-claims.ts";
import type { DueCallback } from "../../src/store/store.ts";

/** Claims over a store that is only a list of what is due. */
function createBench({ posted = Promise.resolve() } = {}) {
  const due: DueCallback[] = [];
  const delivered: string[] = [];
  let onAsked = () => {};
  const claims = createCallbackClaims({
    store: {
      listDueOrigins: async () => [...new Set(due.map(({ origin }) => origin))],
      async listDueCallbacks(origin, limit, inHand = new Set()) {
        onAsked();
        return due.filter((callback) => callback.origin === origin && !inHand.has(callback.task.seq)).slice(0, limit);
      },
      nextCallbackInMs: async () => null,
    },
    async deliver(callback, freePlace) {
      due.splice(due.indexOf(callback), 1);
      delivered.push(callback.task.taskId);
      await posted;
      freePlace();
      return true;
    },
    onFault(error) {
      throw error;
    },
  });
  onTestFinished(claims.stop);
  return {
    claims,
    delivered,
    onNextQuestion(listener: () => void) {
      onAsked = () => {
        onAsked = () => {};
        listener();
      };
    },
    add(origin: string, taskId: string) {
      const task = {
        seq: due.length + delivered.length + 1,
        tenant: "default",
        taskId,
        parentTaskId: null,
        agentId: "a1",
        provider: "memory",
      };
      due.push({
        task,
        origin,
        url: origin,
        body: "{}",
        state: "pending",
        attempts: 0,
        roundAttempts: 0,
        nextAttemptAt: 0,
        lastStatus: null,
        lastError: null,
        updatedAt: 0,
        traceparent: null,
        finishedAt: 0,
      });
    },
  };
}

test.each(Array.from({ length: 12 }, (_, hops) => hops))("a notice that comes %i microtasks into a claim is not lost", async (hops) => {
  const bench = createBench();
  bench.claims.start();
  await new Promise(setImmediate);
  bench.add("https://a.example", "first");
  bench.onNextQuestion(async () => {
    for (let hop = 0; hop < hops; hop += 1) await null;
    bench.add("https://b.example", "second");
    bench.claims.notify("https://b.example");
  });
  bench.claims.notify("https://a.example");
  await expect.poll(() => bench.delivered, { timeout: 1000 }).toEqual(["first", "second"]);
});

test("a notice before the start waits for it, one after the stop is nothing", async () => {
  const bench = createBench();
  bench.add("https://a.example", "first");
  bench.claims.notify("https://a.example");
  await new Promise(setImmediate);
  expect(bench.delivered).toEqual([]);
  bench.claims.start();
  await expect.poll(() => bench.delivered).toEqual(["first"]);
  bench.claims.stop();
  bench.add("https://a.example", "second");
  bench.claims.notify("https://a.example");
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(bench.delivered).toEqual(["first"]);
});

test("what is in hand is waited for, no longer than allowed", async () => {
  const posted = Promise.withResolvers<void>();
  const bench = createBench({ posted: posted.promise });
  bench.add("https://a.example", "first");
  bench.claims.start();
  await expect.poll(() => bench.delivered).toEqual(["first"]);

  const startedAt = performance.now();
  await bench.claims.idle(50);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(45);

  let idle = false;
  const waited = bench.claims.idle(60_000).then(() => {
    idle = true;
  });
  await new Promise(setImmediate);
  expect(idle).toBe(false);
  posted.resolve();
  await waited;
});
