import { expect, onTestFinished, test } from "vitest";
import { createCallbackClaims } from "../../src/callbacks/callback-claims.ts";
import type { DueCallback } from "../../src/store/store.ts";

/** Claims over a store that is only a list of what is due; a post resolves with whether it was answered. */
function createBench({ post = async () => true }: { post?: (callback: DueCallback) => Promise<boolean | null> } = {}) {
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
      freePlace(await post(callback));
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
  const posted = Promise.withResolvers<boolean>();
  const bench = createBench({ post: () => posted.promise });
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
  posted.resolve(true);
  await waited;
});

/** Posts that hang until they are told what came of them. */
function createHeldPosts() {
  const held: { origin: string; end: (answered: boolean | null) => void }[] = [];
  return {
    held,
    post({ origin }: DueCallback) {
      const { promise, resolve } = Promise.withResolvers<boolean | null>();
      held.push({ origin, end: resolve });
      return promise;
    },
  };
}

test("an origin that was silent has one place until it answers", async () => {
  const { held, post } = createHeldPosts();
  const bench = createBench({ post: (callback) => (callback.origin === "https://other.example" ? Promise.resolve(true) : post(callback)) });
  const endNext = (answered: boolean | null) => held.shift()?.end(answered);
  /** Resolves when all that may go out has gone out: the other origin's turn comes last. */
  const settled = async (name: string) => {
    await new Promise(setImmediate);
    bench.add("https://other.example", name);
    bench.claims.notify("https://other.example");
    await expect.poll(() => bench.delivered, { interval: 2 }).toContain(name);
  };
  for (let index = 0; index < 40; index += 1) bench.add("https://a.example", `a${index}`);
  bench.claims.start();
  await settled("first");
  expect(held).toHaveLength(8);

  for (const [index, left] of [7, 6, 5, 4, 3, 2, 1, 1].entries()) {
    endNext(false);
    await settled(`silence ${index}`);
    expect(held).toHaveLength(left);
  }

  endNext(false);
  await settled("second");
  expect(held).toHaveLength(1);

  // A fault of our own tells nothing about the origin.
  endNext(null);
  await settled("third");
  expect(held).toHaveLength(1);

  endNext(true);
  await settled("fourth");
  expect(held).toHaveLength(8);
  endNext(null);
  await settled("fifth");
  expect(held).toHaveLength(8);
});

test("so many that hang meet a ceiling; what is freed goes round in turn, and once they were silent there is room", async () => {
  const { held, post } = createHeldPosts();
  const bench = createBench({ post });
  for (let index = 0; index < 200 * 9; index += 1) bench.add(`https://dead${index % 200}.example`, `dead${index}`);
  bench.claims.start();
  await expect.poll(() => held.length).toBe(1024);
  const served = new Set(held.map(({ origin }) => origin));
  expect(served.size).toBe(128);
  // The places that are freed go to an origin that has none yet, before any other gets its ninth.
  for (const { end } of held.splice(0, 8)) end(true);
  await expect.poll(() => held.length).toBe(1024);
  expect(held.slice(-8).filter(({ origin }) => served.has(origin))).toEqual([]);

  bench.add("https://alive.example", "alive");
  bench.claims.notify("https://alive.example");
  const answered = new Set(bench.delivered);
  for (const { end } of held.splice(0)) end(false);
  await expect.poll(() => bench.delivered).toContain("alive");
  await expect.poll(() => bench.delivered.length).toBeGreaterThan(answered.size + 200);
  expect(held.length).toBeLessThan(1024);
});
