import Database from "better-sqlite3";
import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCallbacks } from "../../src/callbacks/callbacks.ts";
import { createDnsResolver, type FoundAddress } from "../../src/network/dns-resolver.ts";
import { newTask } from "../conformance/store.ts";
import { startNameServer } from "../network/name-server.ts";
import { type Answer, findClosedPort, startReceiver } from "../support/start-receiver.ts";
import { createCallbackBench } from "./callback-bench.ts";

async function receive(answer?: Answer) {
  const receiver = await startReceiver(answer);
  onTestFinished(receiver.close);
  return receiver;
}

const withStatus =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end();
const hang: Answer = () => {};

describe("a delivery", () => {
  test("goes out at once and is settled with event, log line and numbers", async () => {
    const receiver = await receive(withStatus(204));
    const bench = await createCallbackBench();
    bench.worker.start();
    const task = await bench.owe("t1", `${receiver.origin}/hook?token=secret`, { tenant: "acme" });
    expect(await bench.settled(task, "delivered")).toMatchObject({ attempts: 1, nextAttemptAt: null, lastStatus: 204, lastError: null });
    expect(JSON.parse(receiver.posts[0]?.body.toString() ?? "")).toMatchObject({
      taskId: "t1",
      status: "error",
      metadata: { from: "test" },
    });

    const event = bench.events.at(-1);
    expect(event).toMatchObject({ type: "callback.delivered", task: { taskId: "t1", tenant: "acme" } });
    expect(JSON.parse(event?.data ?? "")).toEqual({ attempts: 1, status: 204 });

    expect(bench.attempts()).toEqual([
      {
        level: "info",
        message: "callback attempt",
        taskId: "t1",
        tenant: "acme",
        agentId: "a1",
        provider: "memory",
        origin: receiver.origin,
        attempt: 1,
        outcome: "delivered",
        status: 204,
        error: null,
        durationMs: expect.any(Number),
        ageMs: expect.any(Number),
      },
    ]);
    expect(JSON.stringify(bench.log)).not.toContain("secret");

    const numbers = await bench.metrics.registry.metrics();
    expect(numbers).toContain('bridge_callback_attempts_total{outcome="delivered"} 1');
    expect(numbers).toContain("bridge_callback_delivery_lag_seconds_count 1");
    expect(numbers).toContain("bridge_callback_dead_total 0");
  });

  test("what was committed before the start goes out, the longest overdue first", async () => {
    const receiver = await receive();
    const clock = { now: 1_000_000 };
    const bench = await createCallbackBench({ clock: () => clock.now });
    for (const [taskId, at] of [
      ["young", 1_000_300],
      ["old", 1_000_100],
      ["middle", 1_000_200],
    ] as const) {
      clock.now = at;
      await bench.owe(taskId, receiver.origin);
    }
    clock.now = 90_000_000;
    bench.worker.start();
    await expect.poll(() => bench.attempts().length).toBe(3);
    expect(bench.attempts().map(({ taskId, ageMs }) => [taskId, ageMs])).toEqual([
      ["old", 88_999_900],
      ["middle", 88_999_800],
      ["young", 88_999_700],
    ]);
    expect(receiver.posts).toHaveLength(3);
  });

  test("signed with two secrets, the same bytes and the same id on every attempt, over restarts too", async () => {
    const receiver = await receive(withStatus(500));
    const secrets = [24, 32].map((size) => `whsec_${Buffer.alloc(size, size).toString("base64")}`);
    const bench = await createCallbackBench({ config: { secrets } });
    bench.worker.start();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const task = await bench.owe("t1", receiver.origin, { output: "ü\ud800\u0000😀\u2028", traceparent });
    await bench.settled(task, "pending", 2);
    await bench.stop();
    bench.restart();
    await bench.settled(task, "dead", 4);

    expect(receiver.posts).toHaveLength(4);
    const [first] = receiver.posts;
    for (const { body, headers } of receiver.posts) {
      expect(body).toEqual(first?.body);
      expect(headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
      expect(headers["idempotency-key"]).toBe("t1");
      expect(headers["traceparent"]).toBe(traceparent);
      for (const secret of secrets)
        expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ taskId: "t1" });
    }
    expect(bench.log.some(({ message }) => message.includes("not signed"))).toBe(false);
  });

  test("unsigned ones are warned about once, at the start", async () => {
    const bench = await createCallbackBench();
    bench.worker.start();
    expect(bench.log).toEqual([{ level: "warn", message: expect.stringContaining("BRIDGE_CALLBACK_SECRETS") }]);
  });

  test("is final: nothing brings it back, not even a row that says otherwise", async () => {
    const receiver = await receive();
    const bench = await createCallbackBench();
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    await bench.settled(task, "delivered");
    await bench.stop();
    const database = new Database(bench.file);
    database.exec("UPDATE callback SET state = 'pending', next_at = 0, body = '{}'");
    database.close();
    bench.restart();
    await bench.settled(await bench.owe("t2", receiver.origin), "delivered");
    expect(receiver.taskIds()).toEqual(["t1", "t2"]);
  });
});

describe("the schedule", () => {
  test("out of retries: four POSTs, then dead with event, error line and number", async () => {
    const receiver = await receive(withStatus(500));
    const bench = await createCallbackBench({ config: { backoffMs: 8 }, random: () => 0 });
    const pauses: (number | null)[] = [];
    const settle = bench.store.settleCallbackIfPending;
    bench.store.settleCallbackIfPending = async (taskSeq, settlement) => {
      pauses.push(settlement.nextInMs);
      return await settle(taskSeq, settlement);
    };
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    expect(await bench.settled(task, "dead")).toMatchObject({ attempts: 4, nextAttemptAt: null, lastStatus: 500, lastError: "http_500" });

    expect(receiver.posts).toHaveLength(4);
    expect(pauses).toEqual([6, 32, 160, null]);
    const event = bench.events.at(-1);
    expect(event?.type).toBe("callback.dead");
    expect(JSON.parse(event?.data ?? "")).toEqual({ attempts: 4, lastStatus: 500, lastError: "http_500" });
    expect(bench.attempts().map(({ attempt, level }) => [attempt, level])).toEqual([1, 2, 3, 4].map((attempt) => [attempt, "warn"]));
    expect(bench.log.filter(({ level }) => level === "error")).toEqual([
      expect.objectContaining({
        message: "callback dead",
        taskId: "t1",
        tenant: "default",
        attempts: 4,
        lastStatus: 500,
        lastError: "http_500",
      }),
    ]);
    const numbers = await bench.metrics.registry.metrics();
    expect(numbers).toContain('bridge_callback_attempts_total{outcome="failed"} 4');
    expect(numbers).toContain("bridge_callback_dead_total 1");
  });

  test("410 is dead at once", async () => {
    const receiver = await receive(withStatus(410));
    const bench = await createCallbackBench();
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    expect(await bench.settled(task, "dead")).toMatchObject({ attempts: 1, lastStatus: 410, lastError: "http_410" });
    expect(await bench.metrics.registry.metrics()).toContain('bridge_callback_attempts_total{outcome="gone"} 1');
  });

  test("a refused destination is a failed attempt that tells no address", async () => {
    const bench = await createCallbackBench({ config: { retries: 0 }, resolve: async () => [{ address: "169.254.169.254", family: 4 }] });
    bench.worker.start();
    const task = await bench.owe("t1", "http://receiver.example/");
    expect(await bench.settled(task, "dead")).toMatchObject({ attempts: 1, lastStatus: null, lastError: "destination_not_allowed" });
    expect(JSON.stringify([bench.log, bench.events])).not.toContain("169.254");
  });

  test.each([
    ["60", 2000],
    [new Date(1_800_000_001_500).toUTCString(), 1000],
    [new Date(1_800_000_002_000).toUTCString(), 2000],
  ])("Retry-After: %s counts between the delay and twice the delay", async (retryAfter, expectedMs) => {
    const now = 1_800_000_000_000;
    const receiver = await receive(withStatus(503, { "retry-after": retryAfter }));
    const bench = await createCallbackBench({ clock: () => now, random: () => 0.5, config: { backoffMs: 1000 } });
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    expect(await bench.settled(task, "pending", 1)).toMatchObject({ nextAttemptAt: now + expectedMs });
  });

  test("a restart neither resets nor skips it: 1 s, 5 s, 25 s over four processes", async () => {
    const clock = { now: 1_800_000_000_000 };
    const receiver = await receive(withStatus(500));
    const bench = await createCallbackBench({ clock: () => clock.now, random: () => 0.5, config: { backoffMs: 1000 } });
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    for (const [index, delayMs] of [1000, 5000, 25_000].entries()) {
      const attempts = index + 1;
      const { nextAttemptAt } = await bench.settled(task, "pending", attempts);
      expect(nextAttemptAt).toBe(clock.now + delayMs);
      await bench.stop();

      clock.now += delayMs - 1;
      bench.restart();
      expect(await bench.store.listDueCallbackQueues()).toEqual([]);
      expect(await bench.find(task)).toMatchObject({ attempts, nextAttemptAt });
      await bench.stop();

      clock.now += 1;
      bench.restart();
    }
    await bench.settled(task, "dead", 4);
    expect(receiver.posts).toHaveLength(4);
  });

  test("a retry is posted when it is due although the answer to the previous attempt is not complete", async () => {
    let isFirstOver = false;
    const receiver = await receive((response, _, number) => {
      if (number > 1) return response.end();
      response.writeHead(503, { "content-length": 10 }).write("abc");
      response.once("close", () => {
        isFirstOver = true;
      });
    });
    // The first answer is cut off long after the test.
    const bench = await createCallbackBench({ attemptTimeoutMs: 300_000, config: { backoffMs: 20 } });
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    expect(await bench.settled(task, "delivered")).toMatchObject({ attempts: 2, nextAttemptAt: null });
    expect(isFirstOver).toBe(false);
  });
});

describe("tenants", () => {
  test("200 hosts of one tenant whose name servers are silent neither delay nor kill another tenant's callbacks", async () => {
    const receiver = await receive();
    const nameServer = await startNameServer((name, kind) => (name.startsWith("silent") ? "silent" : kind === "A" ? ["127.0.0.1"] : []));
    onTestFinished(nameServer.close);
    const systemDnsConfig = { hostAddresses: () => [], candidates: (name: string) => [name] };
    const bench = await createCallbackBench({
      resolve: createDnsResolver({ isConfigured: () => false, servers: [nameServer.server], systemDnsConfig, limitMs: 60_000 }),
      attemptTimeoutMs: 60_000,
    });
    bench.worker.start();
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => bench.owe(`a${index}`, `https://silent${index}.example/`, { tenant: "a" })),
    );
    await expect.poll(() => nameServer.questions.length).toBeGreaterThanOrEqual(128);
    const tasks = await Promise.all(
      Array.from({ length: 20 }, (_, index) => bench.owe(`b${index}`, `http://alive${index}.example:${receiver.port}/`, { tenant: "b" })),
    );
    for (const task of tasks) expect(await bench.settled(task, "delivered")).toMatchObject({ attempts: 1 });
    // No lookup of the first tenant has even given up meanwhile.
    expect(bench.attempts().filter(({ tenant }) => tenant === "a")).toEqual([]);
    expect(new Set(nameServer.questions.map(({ name }) => name)).size).toBe(64 + 20);
  });

  test("the wait for a host lookup is not an attempt, and does not shorten the deadline", async () => {
    const receiver = await receive();
    const silent = Promise.withResolvers<FoundAddress[]>();
    const bench = await createCallbackBench({
      attemptTimeoutMs: 300,
      config: { retries: 0 },
      resolve: (host) => (host.startsWith("silent") ? silent.promise : Promise.resolve([{ address: "127.0.0.1", family: 4 }])),
    });
    bench.worker.start();
    const others = await Promise.all(Array.from({ length: 64 }, (_, index) => bench.owe(`s${index}`, `https://silent${index}.example/`)));
    const task = await bench.owe("waits", `http://alive.example:${receiver.port}/`);
    await Promise.all(others.map((other) => bench.settled(other, "dead")));
    expect(await bench.find(task)).toMatchObject({ state: "pending", attempts: 0 });
    silent.resolve([]);
    expect(await bench.settled(task, "delivered")).toMatchObject({ attempts: 1 });
  });

  test("1,150 hanging origins of one tenant leave a place for another tenant's callback", async () => {
    const receiver = await receive();
    const bench = await createCallbackBench({ attemptTimeoutMs: 300_000, resolve: () => new Promise(() => {}) });
    bench.worker.start();
    await Promise.all(
      Array.from({ length: 1150 }, (_, index) => bench.owe(`a${index}`, `https://hangs${index}.example/`, { tenant: "a" })),
    );
    const task = await bench.owe("b", receiver.origin, { tenant: "b" });
    await bench.settled(task, "delivered", 1);
    expect(bench.attempts().map(({ taskId }) => taskId)).toEqual(["b"]);
  });
});

describe("a stop", () => {
  test("in the middle of a POST is no attempt; the callback goes out again", async () => {
    const receiver = await receive((response, _, number) => {
      if (number > 1) response.end();
    });
    const bench = await createCallbackBench();
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    await expect.poll(() => receiver.posts.length).toBe(1);
    await bench.stop();
    bench.restart();
    expect(await bench.settled(task, "delivered")).toMatchObject({ attempts: 1 });
    expect(receiver.taskIds()).toEqual(["t1", "t1"]);
    expect(bench.attempts().map(({ outcome }) => outcome)).toEqual(["own_fault", "delivered"]);
    expect(await bench.metrics.registry.metrics()).not.toContain("own_fault");
  });

  test("lets a POST end that needs only a moment, and settles it", async () => {
    let answer: (() => void) | undefined;
    const receiver = await receive((response) => {
      answer = () => response.end();
    });
    const bench = await createCallbackBench({ closeGraceMs: 5000 });
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    await expect.poll(() => receiver.posts.length).toBe(1);
    const closed = bench.worker.close();
    answer?.();
    await closed;
    expect(await bench.find(task)).toMatchObject({ state: "delivered", attempts: 1 });
  });

  test("claims nothing more", async () => {
    const receiver = await receive();
    const bench = await createCallbackBench();
    bench.worker.start();
    await bench.worker.close();
    const task = await bench.owe("t1", receiver.origin);
    expect(await bench.find(task)).toMatchObject({ state: "pending", attempts: 0 });
    expect(receiver.connections()).toBe(0);
  });

  test("a crash between answer and settlement posts again, with the same bytes", async () => {
    const receiver = await receive();
    const bench = await createCallbackBench();
    bench.store.settleCallbackIfPending = () => new Promise(() => {});
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    await expect.poll(() => bench.attempts().length).toBe(1);
    await bench.crash();
    bench.restart();
    expect(await bench.settled(task, "delivered")).toMatchObject({ attempts: 1 });
    expect(receiver.posts).toHaveLength(2);
    expect(receiver.posts[0]?.body).toEqual(receiver.posts[1]?.body);
    expect(receiver.posts[0]?.headers["webhook-id"]).toBe(receiver.posts[1]?.headers["webhook-id"]);
  });

  test("a settlement that the store refuses is said and tried again", async () => {
    const receiver = await receive();
    const bench = await createCallbackBench();
    const settle = bench.store.settleCallbackIfPending;
    let refusals = 0;
    bench.store.settleCallbackIfPending = (...settlement) => {
      refusals += 1;
      return refusals === 1 ? Promise.reject(new Error("disk")) : settle(...settlement);
    };
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    expect(await bench.settled(task, "delivered")).toMatchObject({ attempts: 1 });
    expect(receiver.posts).toHaveLength(2);
    expect(bench.log).toContainEqual(
      expect.objectContaining({ level: "error", taskId: "t1", message: expect.stringContaining("not settled") }),
    );
  });

  test("a store that cannot be read for a moment delays, no more", async () => {
    const receiver = await receive();
    const bench = await createCallbackBench();
    const list = bench.store.listDueCallbacks;
    let failures = 0;
    bench.store.listDueCallbacks = (...query) => {
      failures += 1;
      return failures === 1 ? Promise.reject(new Error("disk")) : list(...query);
    };
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    await bench.settled(task, "delivered");
    expect(bench.log).toContainEqual(expect.objectContaining({ level: "error", message: "failed to read due callbacks" }));
  });
});

describe("origins", () => {
  test("at most eight at once to one, and all arrive exactly once", async () => {
    const waiting: (() => void)[] = [];
    const receiver = await receive((response) => waiting.push(() => response.end()));
    const bench = await createCallbackBench();
    bench.worker.start();
    const tasks = await Promise.all(Array.from({ length: 40 }, (_, index) => bench.owe(`t${index}`, receiver.origin)));
    for (let answered = 0; answered < tasks.length; answered += 1) {
      await expect.poll(() => waiting.length, { interval: 2 }).toBe(Math.min(8, tasks.length - answered));
      waiting.shift()?.();
    }
    await Promise.all(tasks.map((task) => bench.settled(task, "delivered", 1)));
    expect(receiver.mostAtOnce()).toBe(8);
    expect(new Set(receiver.taskIds()).size).toBe(40);
    expect(receiver.posts).toHaveLength(40);
  });

  test("a place is free as soon as the answer is read, not when the disk has it", async () => {
    const receiver = await receive();
    const bench = await createCallbackBench();
    const settle = bench.store.settleCallbackIfPending;
    const disk = Promise.withResolvers<void>();
    bench.store.settleCallbackIfPending = async (...settlement) => {
      await disk.promise;
      return await settle(...settlement);
    };
    bench.worker.start();
    const tasks = await Promise.all(Array.from({ length: 30 }, (_, index) => bench.owe(`t${index}`, receiver.origin)));
    await expect.poll(() => receiver.posts.length).toBe(30);
    disk.resolve();
    await Promise.all(tasks.map((task) => bench.settled(task, "delivered", 1)));
    expect(receiver.posts).toHaveLength(30);
  });

  test("one that hangs with 50 callbacks delays no other", async () => {
    const dead = await receive(hang);
    const alive = await receive();
    const bench = await createCallbackBench();
    bench.worker.start();
    await Promise.all(Array.from({ length: 50 }, (_, index) => bench.owe(`dead${index}`, dead.origin)));
    await expect.poll(() => dead.posts.length).toBe(8);
    const tasks = await Promise.all(Array.from({ length: 50 }, (_, index) => bench.owe(`alive${index}`, alive.origin)));
    await Promise.all(tasks.map((task) => bench.settled(task, "delivered", 1)));
    expect(dead.posts).toHaveLength(8);
    for (const { taskId } of bench.attempts()) expect(String(taskId)).toMatch(/^alive/);
  });

  test("one whose name is never resolved delays no other and asks once", async () => {
    const alive = await receive();
    let asked = 0;
    const resolve = () => {
      asked += 1;
      return new Promise<never>(() => {});
    };
    const bench = await createCallbackBench({ resolve });
    bench.worker.start();
    await Promise.all(Array.from({ length: 10 }, (_, index) => bench.owe(`dead${index}`, "https://dead.example")));
    await expect.poll(() => asked).toBe(1);
    await bench.settled(await bench.owe("alive", alive.origin), "delivered", 1);
    expect(asked).toBe(1);
  });

  test("64 that hang with eight callbacks each delay no other", async () => {
    const dead = await receive(hang);
    const alive = await receive();
    const bench = await createCallbackBench({ resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
    await Promise.all(
      Array.from({ length: 64 * 8 }, (_, index) => bench.owe(`dead${index}`, `http://h${index % 64}.example:${dead.port}`)),
    );
    const task = await bench.owe("alive", alive.origin);
    bench.worker.start();
    await bench.settled(task, "delivered", 1);
    expect(bench.attempts().map(({ taskId }) => taskId)).toEqual(["alive"]);
  });

  test.each<[what: string, atOnce: number, answer: Answer]>([
    ["cut off without an answer", 1, (response) => response.destroy()],
    ["answered with a 500", 8, withStatus(500)],
  ])("one whose POSTs were %s gets the next ones %i at a time", async (_, atOnce, answer) => {
    const clock = { now: 1_000_000 };
    const sick = await receive((response, request, number) => number <= 8 && answer(response, request, number));
    const alive = await receive();
    const bench = await createCallbackBench({ clock: () => clock.now });
    bench.worker.start();
    await Promise.all(Array.from({ length: 8 }, (_, index) => bench.owe(`sick${index}`, sick.origin)));
    await expect.poll(() => [bench.attempts().length, sick.underWay()]).toEqual([8, 0]);

    clock.now += 60_000;
    bench.worker.notify({ tenant: "default", origin: sick.origin });
    await expect.poll(() => sick.underWay()).toBe(atOnce);
    // Another origin's turn comes after all that this one may have.
    await bench.settled(await bench.owe("alive", alive.origin), "delivered", 1);
    expect(sick.posts).toHaveLength(8 + atOnce);
  });
});

describe("redelivery", () => {
  test("gives a dead callback a new round that keeps id and bytes and counts on", async () => {
    let status = 500;
    const receiver = await receive((response) => response.writeHead(status).end());
    const bench = await createCallbackBench({ config: { retries: 1 } });
    bench.worker.start();
    const task = await bench.owe("t1", receiver.origin);
    await bench.settled(task, "dead", 2);
    expect(await createCallbacks(bench.store, bench.worker).redeliver(task.tenant, task.taskId)).toMatchObject({
      state: "pending",
      attempts: 2,
    });
    await bench.settled(task, "dead", 4);
    status = 200;
    await createCallbacks(bench.store, bench.worker).redeliver(task.tenant, task.taskId);
    expect(await bench.settled(task, "delivered")).toMatchObject({ attempts: 5, lastStatus: 200, lastError: null });
    expect(new Set(receiver.posts.map(({ body }) => body.toString())).size).toBe(1);
    expect(new Set(receiver.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(bench.events.map(({ type }) => type).slice(-3)).toEqual(["callback.dead", "callback.dead", "callback.delivered"]);
    await expect(createCallbacks(bench.store, bench.worker).redeliver(task.tenant, task.taskId)).rejects.toMatchObject({
      code: "already_delivered",
    });
  });

  test("is refused while the callback is pending, and asked twice at once given once", async () => {
    const bench = await createCallbackBench({ config: { retries: 0 } });
    bench.worker.start();
    const task = await bench.owe("t1", `http://127.0.0.1:${await findClosedPort()}`);
    expect(await bench.settled(task, "dead", 1)).toMatchObject({ lastStatus: null, lastError: "connection_refused" });
    const [first, second] = await Promise.allSettled([
      createCallbacks(bench.store, bench.worker).redeliver(task.tenant, task.taskId),
      createCallbacks(bench.store, bench.worker).redeliver(task.tenant, task.taskId),
    ]);
    expect(first).toMatchObject({ status: "fulfilled" });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "invalid_state" } });
    await bench.settled(task, "dead", 2);
  });

  test("without a callback there is nothing to redeliver", async () => {
    const bench = await createCallbackBench();
    const { task } = await bench.store.insertTaskIfAbsent(newTask({ taskId: "none" }));
    await expect(createCallbacks(bench.store, bench.worker).redeliver(task.tenant, task.taskId)).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
