import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCallbacks } from "../../src/callbacks/callbacks.ts";
import { createDnsResolver, type FoundAddress } from "../../src/network/dns-resolver.ts";
import type { Task } from "../../src/task.ts";
import { newTask } from "../conformance/store/fixtures.ts";
import { scaled } from "../harness/machine.ts";
import { startNameServer } from "../network/name-server.ts";
import { databaseOf } from "../support/database-subject.ts";
import { type Answer, startReceiver } from "../support/start-receiver.ts";
import { createCallbackFixture } from "./callback-fixture.ts";

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

describe("a callback", () => {
  test("a callback is posted immediately and settled with event, log line and metrics", async () => {
    const receiver = await receive(withStatus(204));
    const fixture = await createCallbackFixture();
    fixture.worker.start();
    const task = await fixture.owe("t1", `${receiver.origin}/hook?token=secret`, { tenant: "acme" });
    expect(await fixture.settled(task, "delivered")).toMatchObject({ attempts: 1, nextAttemptAt: null, lastStatus: 204, lastError: null });
    expect(JSON.parse(receiver.posts[0]?.body.toString() ?? "")).toMatchObject({
      taskId: "t1",
      status: "error",
      metadata: { from: "test" },
    });

    await fixture.counted("delivered", 1);
    const event = fixture.events.at(-1);
    expect(event).toMatchObject({ type: "callback.delivered", task: { taskId: "t1", tenant: "acme" } });
    expect(JSON.parse(event?.data ?? "")).toEqual({ attempts: 1, status: 204 });

    expect(fixture.attempts()).toEqual([
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
    expect(JSON.stringify(fixture.log)).not.toContain("secret");

    const numbers = await fixture.metrics.registry.metrics();
    expect(numbers).toContain("bridge_callback_delivery_lag_seconds_count 1");
    expect(numbers).toContain("bridge_callback_dead_total 0");
  });

  test("a callback that has just been stored is posted without a read of the store", async () => {
    const receiver = await receive();
    const fixture = await createCallbackFixture();
    const list = fixture.store.listDueCallbacks;
    const backlog = await fixture.owe("backlog", receiver.origin);
    let reads = 0;
    fixture.store.listDueCallbacks = (...query) => {
      reads += 1;
      return list(...query);
    };
    fixture.worker.start();
    await fixture.settled(backlog, "delivered");
    const tasks = await Promise.all(Array.from({ length: 8 }, (_, index) => fixture.owe(`t${index}`, receiver.origin)));
    await Promise.all(tasks.map((task) => fixture.settled(task, "delivered", 1)));
    expect(reads).toBe(1);
    expect(receiver.posts).toHaveLength(9);
  });

  test("a callback that was due before the start is posted, the longest overdue first", async () => {
    const receiver = await receive();
    const clock = { now: 1_000_000 };
    const fixture = await createCallbackFixture({ clock: () => clock.now });
    for (const [taskId, at] of [
      ["young", 1_000_300],
      ["old", 1_000_100],
      ["middle", 1_000_200],
    ] as const) {
      clock.now = at;
      await fixture.owe(taskId, receiver.origin);
    }
    clock.now = 90_000_000;
    fixture.worker.start();
    await expect.poll(() => fixture.attempts().length).toBe(3);
    expect(fixture.attempts().map(({ taskId, ageMs }) => [taskId, ageMs])).toEqual([
      ["old", 88_999_900],
      ["middle", 88_999_800],
      ["young", 88_999_700],
    ]);
    expect(receiver.posts).toHaveLength(3);
  });

  test("a callback has the same bytes, id and two signatures on every attempt, also after restarts", async () => {
    const receiver = await receive(withStatus(500));
    const secrets = [24, 32].map((size) => `whsec_${Buffer.alloc(size, size).toString("base64")}`);
    // The third attempt follows after half a second, so that the test can stop the worker before it.
    const fixture = await createCallbackFixture({ config: { secrets, backoffMs: 100 } });
    fixture.worker.start();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const task = await fixture.owe("t1", receiver.origin, { output: "ü\ud800\u0000😀\u2028", traceparent });
    await fixture.settled(task, "pending", 2);
    await fixture.stop();
    await fixture.restart();
    await fixture.settled(task, "dead", 4);

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
    expect(fixture.log.some(({ message }) => message.includes("not signed"))).toBe(false);
  });

  test("a callback settles a response that stays open, and stores what has arrived of it", async () => {
    const receiver = await receive((response) => void response.writeHead(200).write("thinking"));
    const fixture = await createCallbackFixture();
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    await fixture.settled(task, "delivered", 1);
    expect(receiver.underWay()).toBe(1);
    expect((await fixture.store.findCallbackDetails(task.seq))?.history).toMatchObject([{ response: "thinking", responseTruncated: true }]);
  });

  test("without a signature is warned about once, at the start", async () => {
    const fixture = await createCallbackFixture();
    fixture.worker.start();
    expect(fixture.log).toEqual([{ level: "warn", message: expect.stringContaining("BRIDGE_CALLBACK_SECRETS") }]);
  });

  test("a callback is never posted again after its delivery, even if its row is pending again", async () => {
    const receiver = await receive();
    const fixture = await createCallbackFixture();
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    await fixture.settled(task, "delivered");
    await fixture.stop();
    await (await databaseOf(fixture.dataDir)).query("UPDATE callback SET state = 'pending', next_at = 0, body = '{}'");
    await fixture.restart();
    await fixture.settled(await fixture.owe("t2", receiver.origin), "delivered");
    expect(receiver.taskIds()).toEqual(["t1", "t2"]);
  });
});

describe("the schedule", () => {
  test("the schedule makes a callback dead after four POSTs, with event, error line and metric", async () => {
    const receiver = await receive(withStatus(500));
    const fixture = await createCallbackFixture({ config: { backoffMs: 8 }, random: () => 0 });
    const pauses: (number | null)[] = [];
    const settle = fixture.store.settleCallbackIfPending;
    fixture.store.settleCallbackIfPending = async (...settling) => {
      pauses.push(settling[1].nextInMs);
      return await settle(...settling);
    };
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    expect(await fixture.settled(task, "dead")).toMatchObject({ attempts: 4, nextAttemptAt: null, lastStatus: 500, lastError: "http_500" });

    await fixture.counted("failed", 4);
    expect(receiver.posts).toHaveLength(4);
    expect(pauses).toEqual([6, 32, 160, null]);
    const event = fixture.events.at(-1);
    expect(event?.type).toBe("callback.dead");
    expect(JSON.parse(event?.data ?? "")).toEqual({ attempts: 4, lastStatus: 500, lastError: "http_500" });
    expect(fixture.attempts().map(({ attempt, level }) => [attempt, level])).toEqual([1, 2, 3, 4].map((attempt) => [attempt, "warn"]));
    expect(fixture.log.filter(({ level }) => level === "error")).toEqual([
      expect.objectContaining({
        message: "callback dead",
        taskId: "t1",
        tenant: "default",
        attempts: 4,
        lastStatus: 500,
        lastError: "http_500",
      }),
    ]);
    expect(await fixture.metrics.registry.metrics()).toContain("bridge_callback_dead_total 1");
  });

  test("the schedule makes a callback dead after a 410", async () => {
    const receiver = await receive(withStatus(410));
    const fixture = await createCallbackFixture();
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    expect(await fixture.settled(task, "dead")).toMatchObject({ attempts: 1, lastStatus: 410, lastError: "http_410" });
    await fixture.counted("gone", 1);
  });

  test("the schedule counts a rejected destination as a failed attempt, without its address", async () => {
    const fixture = await createCallbackFixture({
      config: { retries: 0 },
      resolve: async () => [{ address: "169.254.169.254", family: 4 }],
    });
    fixture.worker.start();
    const task = await fixture.owe("t1", "http://receiver.example/");
    expect(await fixture.settled(task, "dead")).toMatchObject({ attempts: 1, lastStatus: null, lastError: "destination_not_allowed" });
    expect(JSON.stringify([fixture.log, fixture.events])).not.toContain("169.254");
  });

  test.each([
    ["60", 2000],
    [new Date(1_800_000_001_500).toUTCString(), 1000],
    [new Date(1_800_000_002_000).toUTCString(), 2000],
  ])("the schedule applies Retry-After: %s between the delay and twice the delay", async (retryAfter, expectedMs) => {
    const now = 1_800_000_000_000;
    const receiver = await receive(withStatus(503, { "retry-after": retryAfter }));
    const fixture = await createCallbackFixture({ clock: () => now, random: () => 0.5, config: { backoffMs: 1000 } });
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    expect(await fixture.settled(task, "pending", 1)).toMatchObject({ nextAttemptAt: now + expectedMs });
  });

  test("the schedule continues after restarts: 1 s, 5 s, 25 s over four processes", async () => {
    const clock = { now: 1_800_000_000_000 };
    const receiver = await receive(withStatus(500));
    const fixture = await createCallbackFixture({ clock: () => clock.now, random: () => 0.5, config: { backoffMs: 1000 } });
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    for (const [index, delayMs] of [1000, 5000, 25_000].entries()) {
      const attempts = index + 1;
      const { nextAttemptAt } = await fixture.settled(task, "pending", attempts);
      expect(nextAttemptAt).toBe(clock.now + delayMs);
      await fixture.stop();

      clock.now += delayMs - 1;
      await fixture.restart();
      expect(await fixture.store.listDueCallbackQueues()).toEqual([]);
      expect(await fixture.find(task)).toMatchObject({ attempts, nextAttemptAt });
      await fixture.stop();

      clock.now += 1;
      await fixture.restart();
    }
    await fixture.settled(task, "dead", 4);
    expect(receiver.posts).toHaveLength(4);
  });

  test("the schedule posts a due retry although the response to the previous attempt is incomplete", async () => {
    let isFirstOver = false;
    const receiver = await receive((response, _, number) => {
      if (number > 1) return response.end();
      response.writeHead(503, { "content-length": 10 }).write("abc");
      response.once("close", () => {
        isFirstOver = true;
      });
    });
    // The first response is aborted long after the test.
    const fixture = await createCallbackFixture({ attemptTimeoutMs: 300_000, config: { backoffMs: 20 } });
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    expect(await fixture.settled(task, "delivered")).toMatchObject({ attempts: 2, nextAttemptAt: null });
    expect(isFirstOver).toBe(false);
  });
});

describe("a receiver whose answers never end", () => {
  /** Answers 200 at once, and never completes the body. The attempts would end long after the test. */
  const endless: Answer = (response) => void response.writeHead(200).write("a");

  test("a receiver whose answers never end delays no further callback to its origin", async () => {
    const receiver = await receive(endless);
    const fixture = await createCallbackFixture({ attemptTimeoutMs: 300_000 });
    fixture.worker.start();
    const tasks = await Promise.all(Array.from({ length: 30 }, (_, index) => fixture.owe(`t${index}`, receiver.origin)));
    for (const task of tasks) await fixture.settled(task, "delivered", 1);
    // Bridge reads the rest of so many answers at the same time, and ends the others.
    await expect.poll(receiver.underWay).toBe(8);
  });

  test("a receiver whose answers never end counts as answering again with its status", async () => {
    const receiver = await receive((response, _, number) => {
      if (number === 1) response.destroy();
      else endless(response, _, number);
    });
    const fixture = await createCallbackFixture({ attemptTimeoutMs: 300_000, config: { retries: 0 } });
    fixture.worker.start();
    await fixture.settled(await fixture.owe("reset", receiver.origin), "dead", 1);
    const tasks = await Promise.all(["a", "b", "c"].map((id) => fixture.owe(id, receiver.origin)));
    for (const task of tasks) await fixture.settled(task, "delivered", 1);
  });
});

describe("tenants", () => {
  test("tenants with 200 hosts on unresponsive name servers do not delay another tenant's callbacks", async () => {
    const receiver = await receive();
    const nameServer = await startNameServer((name, kind) => (name.startsWith("silent") ? "silent" : kind === "A" ? ["127.0.0.1"] : []));
    onTestFinished(nameServer.close);
    const systemDnsConfig = { findHostAddresses: () => [], listCandidates: (name: string) => [name] };
    const fixture = await createCallbackFixture({
      resolve: createDnsResolver({ isConfigured: () => false, servers: [nameServer.server], systemDnsConfig, limitMs: 60_000 }),
      attemptTimeoutMs: 60_000,
    });
    fixture.worker.start();
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => fixture.owe(`a${index}`, `https://silent${index}.example/`, { tenant: "a" })),
    );
    await expect.poll(() => nameServer.questions.length).toBeGreaterThanOrEqual(128);
    const tasks = await Promise.all(
      Array.from({ length: 20 }, (_, index) => fixture.owe(`b${index}`, `http://alive${index}.example:${receiver.port}/`, { tenant: "b" })),
    );
    for (const task of tasks) expect(await fixture.settled(task, "delivered")).toMatchObject({ attempts: 1 });
    // No lookup of the first tenant has timed out in the meantime.
    expect(fixture.attempts().filter(({ tenant }) => tenant === "a")).toEqual([]);
    expect(new Set(nameServer.questions.map(({ name }) => name)).size).toBe(64 + 20);
  });

  test("tenants wait for host lookups without losing an attempt or time of the deadline", async () => {
    const receiver = await receive();
    const silent = Promise.withResolvers<FoundAddress[]>();
    const fixture = await createCallbackFixture({
      attemptTimeoutMs: scaled(300),
      config: { retries: 0 },
      resolve: (host) => (host.startsWith("silent") ? silent.promise : Promise.resolve([{ address: "127.0.0.1", family: 4 }])),
    });
    fixture.worker.start();
    const others = await Promise.all(Array.from({ length: 64 }, (_, index) => fixture.owe(`s${index}`, `https://silent${index}.example/`)));
    const task = await fixture.owe("waits", `http://alive.example:${receiver.port}/`);
    await Promise.all(others.map((other) => fixture.settled(other, "dead")));
    expect(await fixture.find(task)).toMatchObject({ state: "pending", attempts: 0 });
    silent.resolve([]);
    expect(await fixture.settled(task, "delivered")).toMatchObject({ attempts: 1 });
  });

  test("tenants with 1,150 hanging origins leave a slot for another tenant's callback", async () => {
    const receiver = await receive();
    const fixture = await createCallbackFixture({ attemptTimeoutMs: 300_000, resolve: () => new Promise(() => {}) });
    fixture.worker.start();
    await Promise.all(
      Array.from({ length: 1150 }, (_, index) => fixture.owe(`a${index}`, `https://hangs${index}.example/`, { tenant: "a" })),
    );
    const task = await fixture.owe("b", receiver.origin, { tenant: "b" });
    await fixture.settled(task, "delivered", 1);
    expect(fixture.attempts().map(({ taskId }) => taskId)).toEqual(["b"]);
  });
});

describe("a shutdown", () => {
  test("a shutdown during a POST does not count it as an attempt, and the callback is posted again", async () => {
    const receiver = await receive((response, _, number) => {
      if (number > 1) response.end();
    });
    const fixture = await createCallbackFixture();
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    await expect.poll(() => receiver.posts.length).toBe(1);
    await fixture.stop();
    await fixture.restart();
    expect(await fixture.settled(task, "delivered")).toMatchObject({ attempts: 1 });
    expect(receiver.taskIds()).toEqual(["t1", "t1"]);
    expect(fixture.attempts().map(({ outcome }) => outcome)).toEqual(["own_fault", "delivered"]);
    expect(await fixture.metrics.registry.metrics()).not.toContain("own_fault");
  });

  test("a shutdown lets a POST end within the grace time, and settles it", async () => {
    let answer: (() => void) | undefined;
    const receiver = await receive((response) => {
      answer = () => response.end();
    });
    const fixture = await createCallbackFixture({ closeGraceMs: 5000 });
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    await expect.poll(() => receiver.posts.length).toBe(1);
    const closed = fixture.worker.close();
    answer?.();
    await closed;
    expect(await fixture.find(task)).toMatchObject({ state: "delivered", attempts: 1 });
  });

  test("a shutdown stops claiming callbacks", async () => {
    const receiver = await receive();
    const fixture = await createCallbackFixture();
    fixture.worker.start();
    await fixture.worker.close();
    const task = await fixture.owe("t1", receiver.origin);
    expect(await fixture.find(task)).toMatchObject({ state: "pending", attempts: 0 });
    expect(receiver.connections()).toBe(0);
  });

  test("a crash between response and settlement posts the callback again, with the same bytes", async () => {
    const receiver = await receive();
    const fixture = await createCallbackFixture();
    fixture.store.settleCallbackIfPending = () => new Promise(() => {});
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    await expect.poll(() => fixture.attempts().length).toBe(1);
    await fixture.crash();
    await fixture.restart();
    expect(await fixture.settled(task, "delivered")).toMatchObject({ attempts: 1 });
    expect(receiver.posts).toHaveLength(2);
    expect(receiver.posts[0]?.body).toEqual(receiver.posts[1]?.body);
    expect(receiver.posts[0]?.headers["webhook-id"]).toBe(receiver.posts[1]?.headers["webhook-id"]);
  });

  test("a settlement that the store rejects is logged and retried", async () => {
    const receiver = await receive();
    const fixture = await createCallbackFixture();
    const settle = fixture.store.settleCallbackIfPending;
    let refusals = 0;
    fixture.store.settleCallbackIfPending = (...settlement) => {
      refusals += 1;
      return refusals === 1 ? Promise.reject(new Error("disk")) : settle(...settlement);
    };
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    expect(await fixture.settled(task, "delivered")).toMatchObject({ attempts: 1 });
    expect(receiver.posts).toHaveLength(2);
    expect(fixture.log).toContainEqual(
      expect.objectContaining({ level: "error", taskId: "t1", message: "failed to settle callback, posting it again" }),
    );
  });

  test("a temporary read failure of the store only delays callbacks", async () => {
    const receiver = await receive();
    const fixture = await createCallbackFixture();
    const list = fixture.store.listDueCallbacks;
    let failures = 0;
    fixture.store.listDueCallbacks = (...query) => {
      failures += 1;
      return failures === 1 ? Promise.reject(new Error("disk")) : list(...query);
    };
    const task = await fixture.owe("t1", receiver.origin);
    fixture.worker.start();
    await fixture.settled(task, "delivered");
    expect(fixture.log).toContainEqual(expect.objectContaining({ level: "error", message: "failed to read due callbacks" }));
  });
});

describe("origins", () => {
  test("origins get at most eight concurrent callbacks each, and each callback arrives once", async () => {
    const waiting: (() => void)[] = [];
    const receiver = await receive((response) => waiting.push(() => response.end()));
    const fixture = await createCallbackFixture();
    fixture.worker.start();
    const tasks = await Promise.all(Array.from({ length: 40 }, (_, index) => fixture.owe(`t${index}`, receiver.origin)));
    for (let answered = 0; answered < tasks.length; answered += 1) {
      await expect.poll(() => waiting.length, { interval: 2 }).toBe(Math.min(8, tasks.length - answered));
      waiting.shift()?.();
    }
    await Promise.all(tasks.map((task) => fixture.settled(task, "delivered", 1)));
    expect(receiver.mostAtOnce()).toBe(8);
    expect(new Set(receiver.taskIds()).size).toBe(40);
    expect(receiver.posts).toHaveLength(40);
  });

  test("origins get the next callback when the response is read, without a wait for the disk", async () => {
    const receiver = await receive();
    const fixture = await createCallbackFixture();
    const settle = fixture.store.settleCallbackIfPending;
    const disk = Promise.withResolvers<void>();
    fixture.store.settleCallbackIfPending = async (...settlement) => {
      await disk.promise;
      return await settle(...settlement);
    };
    fixture.worker.start();
    const tasks = await Promise.all(Array.from({ length: 30 }, (_, index) => fixture.owe(`t${index}`, receiver.origin)));
    await expect.poll(() => receiver.posts.length).toBe(30);
    disk.resolve();
    await Promise.all(tasks.map((task) => fixture.settled(task, "delivered", 1)));
    expect(receiver.posts).toHaveLength(30);
  });

  test("origins that hang with 50 callbacks do not delay others", async () => {
    const dead = await receive(hang);
    const alive = await receive();
    const fixture = await createCallbackFixture();
    fixture.worker.start();
    await Promise.all(Array.from({ length: 50 }, (_, index) => fixture.owe(`dead${index}`, dead.origin)));
    await expect.poll(() => dead.posts.length).toBe(8);
    const tasks = await Promise.all(Array.from({ length: 50 }, (_, index) => fixture.owe(`alive${index}`, alive.origin)));
    await Promise.all(tasks.map((task) => fixture.settled(task, "delivered", 1)));
    expect(dead.posts).toHaveLength(8);
    for (const { taskId } of fixture.attempts()) expect(String(taskId)).toMatch(/^alive/);
  });

  test("origins that never resolve do not delay others, and are looked up once", async () => {
    const alive = await receive();
    let asked = 0;
    const resolve = () => {
      asked += 1;
      return new Promise<never>(() => {});
    };
    const fixture = await createCallbackFixture({ resolve });
    fixture.worker.start();
    await Promise.all(Array.from({ length: 10 }, (_, index) => fixture.owe(`dead${index}`, "https://dead.example")));
    await expect.poll(() => asked).toBe(1);
    await fixture.settled(await fixture.owe("alive", alive.origin), "delivered", 1);
    expect(asked).toBe(1);
  });

  test("origins that hang with eight callbacks each, 64 of them, do not delay others", async () => {
    const dead = await receive(hang);
    const alive = await receive();
    const fixture = await createCallbackFixture({ resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
    await Promise.all(
      Array.from({ length: 64 * 8 }, (_, index) => fixture.owe(`dead${index}`, `http://h${index % 64}.example:${dead.port}`)),
    );
    const task = await fixture.owe("alive", alive.origin);
    fixture.worker.start();
    await fixture.settled(task, "delivered", 1);
    expect(fixture.attempts().map(({ taskId }) => taskId)).toEqual(["alive"]);
  });

  test.each<[what: string, atOnce: number, answer: Answer]>([
    ["cut off without an answer", 1, (response) => response.destroy()],
    ["answered with a 500", 8, withStatus(500)],
  ])("origins whose POSTs were %s get the next ones %i at a time", async (_, atOnce, answer) => {
    const clock = { now: 1_000_000 };
    const sick = await receive((response, request, number) => number <= 8 && answer(response, request, number));
    const alive = await receive();
    const fixture = await createCallbackFixture({ clock: () => clock.now });
    fixture.worker.start();
    const owed = await Promise.all(Array.from({ length: 8 }, (_, index) => fixture.owe(`sick${index}`, sick.origin)));
    await expect.poll(() => [fixture.attempts().length, sick.underWay()]).toEqual([8, 0]);
    // A settlement after the change of the clock would delay its retry by as much.
    for (const task of owed) await fixture.settled(task, "pending", 1);

    clock.now += 60_000;
    fixture.worker.notify({ tenant: "default", receiver: sick.origin });
    await expect.poll(() => sick.underWay()).toBe(atOnce);
    // Another origin has its turn after this one has reached its limit.
    await fixture.settled(await fixture.owe("alive", alive.origin), "delivered", 1);
    expect(sick.posts).toHaveLength(8 + atOnce);
  });
});

describe("redelivery", () => {
  test("redelivery gives a dead callback a new round with the same id and bytes, and continues the attempt count", async () => {
    let status = 500;
    const receiver = await receive((response) => response.writeHead(status).end());
    const fixture = await createCallbackFixture({ config: { retries: 1 } });
    fixture.worker.start();
    const task = await fixture.owe("t1", receiver.origin);
    await fixture.settled(task, "dead", 2);
    expect(await createCallbacks(fixture.store, fixture.worker).redeliver(task.tenant, task.taskId)).toMatchObject({
      state: "pending",
      attempts: 2,
    });
    await fixture.settled(task, "dead", 4);
    status = 200;
    await createCallbacks(fixture.store, fixture.worker).redeliver(task.tenant, task.taskId);
    expect(await fixture.settled(task, "delivered")).toMatchObject({ attempts: 5, lastStatus: 200, lastError: null });
    expect(new Set(receiver.posts.map(({ body }) => body.toString())).size).toBe(1);
    expect(new Set(receiver.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(fixture.events.map(({ type }) => type).slice(-3)).toEqual(["callback.dead", "callback.dead", "callback.delivered"]);
    await expect(createCallbacks(fixture.store, fixture.worker).redeliver(task.tenant, task.taskId)).rejects.toMatchObject({
      code: "already_delivered",
    });
  });

  test("redelivery is rejected while the callback is pending, also for concurrent requests", async () => {
    const fixture = await createCallbackFixture({ config: { retries: 0 } });
    fixture.worker.start();
    // Keeps the second attempt open until both requests have their answers.
    const held: ServerResponse[] = [];
    const receiver = await receive((response, _, number) => (number === 1 ? response.destroy() : held.push(response)));
    const task = await fixture.owe("t1", receiver.origin);
    expect(await fixture.settled(task, "dead", 1)).toMatchObject({ lastStatus: null, lastError: "connection_reset" });
    const answers = await Promise.allSettled([
      createCallbacks(fixture.store, fixture.worker).redeliver(task.tenant, task.taskId),
      createCallbacks(fixture.store, fixture.worker).redeliver(task.tenant, task.taskId),
    ]);
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(answers).toContainEqual(
      expect.objectContaining({ status: "rejected", reason: expect.objectContaining({ code: "invalid_state" }) }),
    );
    await expect.poll(() => held.length).toBe(1);
    held[0]?.destroy();
    await fixture.settled(task, "dead", 2);
  });

  test("redelivery of all dead callbacks examines 1,000 per request, and ends although the receiver still fails", async () => {
    const receiver = await receive(withStatus(410));
    const fixture = await createCallbackFixture();
    const tasks = await Promise.all(Array.from({ length: 1150 }, (_, index) => fixture.owe(`t${index}`, receiver.origin)));
    const queue = { tenant: "default", origin: receiver.origin };
    for (const task of tasks)
      void fixture.store.settleCallbackIfPending(
        { task, attempts: 0 },
        { state: "dead", nextInMs: null, lastStatus: 410, lastError: "http_410", event: null },
      );
    await fixture.settled(tasks.at(-1) as Task, "dead", 1);
    fixture.worker.start();
    const callbacks = createCallbacks(fixture.store, fixture.worker);
    const first = await callbacks.redeliverAll(queue, null);
    expect(first).toEqual({ redelivered: 1000, next: expect.any(Number) });
    expect(await callbacks.redeliverAll(queue, first.next)).toEqual({ redelivered: 150, next: null });
    await expect.poll(() => fixture.attempts().length).toBe(1150);
    expect(await callbacks.redeliverAll({ ...queue, tenant: "other" }, null)).toEqual({ redelivered: 0, next: null });
  });

  test("redelivery is rejected for a task without a callback", async () => {
    const fixture = await createCallbackFixture();
    const { task } = await fixture.store.insertTaskIfAbsent(newTask({ taskId: "none" }));
    await expect(createCallbacks(fixture.store, fixture.worker).redeliver(task.tenant, task.taskId)).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
