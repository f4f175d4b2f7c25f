import { expect, onTestFinished, test } from "vitest";
import { createCallbackClaims } from "../../src/callbacks/callback-claims.ts";
import type { DueCallback } from "../../src/store/store.ts";
import { outlasts } from "../outlasts.ts";

/** Claims over a store that is only a list of what is due; a post resolves with whether it was answered. */
function createBench({ post = async () => true }: { post?: (callback: DueCallback) => Promise<boolean | null> } = {}) {
  const due: DueCallback[] = [];
  const delivered: string[] = [];
  let onAsked = () => {};
  const claims = createCallbackClaims({
    store: {
      listDueCallbackQueues: async () => due.map(({ origin, task: { tenant } }) => ({ tenant, origin })),
      async listDueCallbacks({ tenant, origin }, limit, inHand = new Set()) {
        onAsked();
        return due
          .filter((callback) => callback.origin === origin && callback.task.tenant === tenant && !inHand.has(callback.task.seq))
          .slice(0, limit);
      },
      nextCallbackInMs: async () => null,
    },
    deliver(callback) {
      due.splice(due.indexOf(callback), 1);
      delivered.push(callback.task.taskId);
      const ended = post(callback);
      return { ended, settled: ended.then(() => true) };
    },
    onFault(error) {
      throw error;
    },
  });
  onTestFinished(claims.stop);
  return {
    claims,
    delivered,
    notify: (origin: string, tenant = "default") => claims.notify({ tenant, origin }),
    onNextQuestion(listener: () => void) {
      onAsked = () => {
        onAsked = () => {};
        listener();
      };
    },
    add(origin: string, taskId: string, tenant = "default", heldLength = 2) {
      const task = {
        seq: due.length + delivered.length + 1,
        tenant,
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
        heldLength,
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
    bench.notify("https://b.example");
  });
  bench.notify("https://a.example");
  await expect.poll(() => bench.delivered, { timeout: 1000 }).toEqual(["first", "second"]);
});

test("a notice before the start waits for it, one after the stop is nothing", async () => {
  const bench = createBench();
  bench.add("https://a.example", "first");
  bench.notify("https://a.example");
  await new Promise(setImmediate);
  expect(bench.delivered).toEqual([]);
  bench.claims.start();
  await expect.poll(() => bench.delivered).toEqual(["first"]);
  bench.claims.stop();
  bench.add("https://a.example", "second");
  bench.notify("https://a.example");
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

  expect(await outlasts(() => bench.claims.idle(50), 45)).toBe(true);

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
    bench.notify("https://other.example");
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
  for (let index = 0; index < 160 * 9; index += 1) bench.add(`https://dead${index % 160}.example`, `dead${index}`);
  bench.claims.start();
  await expect.poll(() => held.length).toBe(768);
  const served = new Set(held.map(({ origin }) => origin));
  expect(served.size).toBe(96);
  // The places that are freed go to an origin that has none yet, before any other gets its ninth.
  for (const { end } of held.splice(0, 8)) end(true);
  await expect.poll(() => held.length).toBe(768);
  expect(held.slice(-8).filter(({ origin }) => served.has(origin))).toEqual([]);

  bench.add("https://alive.example", "alive");
  bench.notify("https://alive.example");
  const answered = new Set(bench.delivered);
  for (const { end } of held.splice(0)) end(false);
  await expect.poll(() => bench.delivered).toContain("alive");
  await expect.poll(() => bench.delivered.length).toBeGreaterThan(answered.size + 160);
  expect(held.length).toBeLessThan(768);
});

test("each further tenant finds places, however many the earlier tenants hold", async () => {
  const { held, post } = createHeldPosts();
  const bench = createBench({ post });
  bench.claims.start();
  const places: number[] = [];
  for (const tenant of ["a", "b", "c", "d", "e"]) {
    for (let index = 0; index < 1150; index += 1) {
      bench.add(`https://${tenant}${index}.example`, `${tenant}${index}`, tenant);
      bench.notify(`https://${tenant}${index}.example`, tenant);
    }
    const before = held.length;
    await expect.poll(() => bench.delivered.some((taskId) => taskId.startsWith(tenant))).toBe(true);
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    places.push(held.length - before);
  }
  expect(places).toEqual([768, 192, 48, 12, 3]);
});

test("a tenant has large bodies in hand up to its limit, and another tenant finds room all the same", async () => {
  const { held, post } = createHeldPosts();
  const bench = createBench({ post });
  const owe = (tenant: string, count: number) => {
    for (let index = 0; index < count; index += 1) {
      bench.add(`https://${tenant}${index}.example`, `${tenant}${index}`, tenant, 8 * 1024 ** 2);
      bench.notify(`https://${tenant}${index}.example`, tenant);
    }
  };
  bench.claims.start();
  const places: number[] = [];
  for (const tenant of ["a", "b", "c", "d", "e", "f"]) {
    const before = held.length;
    owe(tenant, 20);
    for (let turn = 0; turn < 30; turn += 1) await new Promise(setImmediate);
    places.push(held.length - before);
  }
  expect(places).toEqual([4, 4, 4, 4, 1, 1]);
  // Those that end make room for the others.
  await expect
    .poll(
      () => {
        held.shift()?.end(true);
        return bench.delivered.length;
      },
      { interval: 1, timeout: 10_000 },
    )
    .toBe(6 * 20);
});

test("places that become free go to the tenants in turn", async () => {
  const { held, post } = createHeldPosts();
  const bench = createBench({ post });
  bench.claims.start();
  const owe = async (tenant: string, count: number) => {
    for (let index = 0; index < count; index += 1) {
      bench.add(`https://${tenant}${index}.example`, `${tenant}${index}`, tenant);
      bench.notify(`https://${tenant}${index}.example`, tenant);
    }
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  };
  await owe("a", 1150);
  await expect.poll(() => held.length).toBe(768);
  await owe("b", 400);
  await owe("c", 400);
  expect(held.length).toBe(768 + 192 + 48);
  for (const { end } of held.splice(0, 300)) end(true);
  await expect.poll(() => held.length).toBeGreaterThan(708 + 100);
  const started = bench.delivered.slice(768 + 192 + 48).map((taskId) => taskId[0]);
  for (let index = 0; index < 90; index += 3) expect(new Set(started.slice(index, index + 3)).size).toBe(3);
});

test("tenants that share an origin take turns at its places", async () => {
  const { held, post } = createHeldPosts();
  const bench = createBench({ post });
  for (let index = 0; index < 40; index += 1) bench.add("https://shared.example", `a${index}`, "a");
  bench.claims.start();
  await expect.poll(() => held.length).toBe(8);
  for (let index = 0; index < 4; index += 1) {
    bench.add("https://shared.example", `b${index}`, "b");
    bench.notify("https://shared.example", "b");
  }
  for (let count = 9; count <= 16; count += 1) {
    held.shift()?.end(true);
    await expect.poll(() => bench.delivered.length).toBe(count);
  }
  expect(bench.delivered.slice(8).filter((taskId) => taskId.startsWith("b"))).toHaveLength(4);
});

test("a callback that is due again is claimed although the answer to its last POST is not complete", async () => {
  const due = [{ origin: "https://a.example", heldLength: 2, task: { seq: 1, tenant: "default" } } as DueCallback];
  const attempts: PromiseWithResolvers<boolean>[] = [];
  const claims = createCallbackClaims({
    store: { listDueCallbackQueues: async () => [], listDueCallbacks: async () => due.splice(0), nextCallbackInMs: async () => null },
    deliver() {
      const attempt = Promise.withResolvers<boolean>();
      attempts.push(attempt);
      return { settled: attempt.promise, ended: new Promise(() => {}) };
    },
    onFault(error) {
      throw error;
    },
  });
  onTestFinished(claims.stop);
  const queue = { tenant: "default", origin: "https://a.example" };
  const [row] = due;
  claims.start();
  claims.notify(queue);
  await expect.poll(() => attempts.length).toBe(1);
  attempts[0]?.resolve(true);
  due.push(row as DueCallback);
  claims.notify(queue);
  await expect.poll(() => attempts.length).toBe(2);
});
