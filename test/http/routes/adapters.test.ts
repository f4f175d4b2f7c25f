import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const adapters = () => bridge.call("GET", "/api/v2/adapters");
const entry = async (provider: string) =>
  (await adapters()).body.data.find((adapter: { provider: string }) => adapter.provider === provider);

test("the list has every adapter with its health, capabilities and load, including one that failed to load", async () => {
  const { status, body } = await askUntil(adapters, (answer) => answer.body.data[0].health.checkedAt !== null);
  expect([status, body.meta]).toEqual([200, { nextCursor: null }]);
  expect(body.data.map(({ provider }: { provider: string }) => provider)).toEqual(["memory", "narrow", "absent"]);
  expect(body.data[1]).toMatchObject({
    health: { status: "healthy", connection: "in-process", version: null, path: null, detail: null, preflight: [] },
    capabilities: { streaming: true, tools: false, sessionResume: false, outputStrategies: ["stream"], inputs: [] },
    running: 0,
    queued: 0,
    maxConcurrent: 1,
  });
  expect(new Date(body.data[1].health.checkedAt).toISOString()).toBe(body.data[1].health.checkedAt);
  expect(body.data[2]).toMatchObject({
    health: { status: "offline", connection: null, detail: "It is not installed." },
    capabilities: null,
    running: 0,
  });
});

test("the list counts running and queued tasks", async () => {
  await bridge.dispatch({ provider: "narrow", taskId: "runs", message: "wait" });
  await bridge.dispatch({ provider: "narrow", taskId: "waits" });
  await askUntil(
    () => entry("narrow"),
    ({ running }) => running === 1,
  );
  expect(await entry("narrow")).toMatchObject({ running: 1, queued: 1 });
  expect((await bridge.call("GET", "/metrics")).text).toContain('bridge_tasks_queued{provider="narrow"} 1');
});

test("an adapter cools down after a usage limit until the time that the vendor names, or until a task succeeds", async () => {
  const run = (message: string) => bridge.dispatch({ message }, { headers: { prefer: "wait=30" } });
  const isCooling = async () => (await bridge.call("GET", "/metrics")).text.includes('bridge_adapter_cooling_down{provider="memory"} 1');
  expect(await entry("memory")).toMatchObject({ cooldownUntil: null, cooldownReason: null });
  const before = Date.now();
  await run("limit");
  const { cooldownUntil, cooldownReason } = await askUntil(
    () => entry("memory"),
    (adapter) => adapter.cooldownUntil !== null,
  );
  expect(Date.parse(cooldownUntil)).toBeGreaterThanOrEqual(before + 7_200_000);
  expect(cooldownReason).toBe("A task failed with rate_limited. Its error names the time at which the limit ends.");
  expect(await isCooling()).toBe(true);
  expect((await run("Hello.")).body.state).toBe("completed");
  await askUntil(
    () => entry("memory"),
    (adapter) => adapter.cooldownUntil === null,
  );
  expect(await isCooling()).toBe(false);
});

test("the list is paginated in the configured order", async () => {
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await bridge.call("GET", `/api/v2/adapters?limit=2${cursor && `&cursor=${cursor}`}`);
    found.push(...body.data.map(({ provider }: { provider: string }) => provider));
    cursor = body.meta.nextCursor;
  }
  expect(found).toEqual(["memory", "narrow", "absent"]);
  expect((await bridge.call("GET", "/api/v2/adapters?limit=3")).body.meta).toEqual({ nextCursor: null });
});

test("a check returns the adapter with its health; requests at the same time share one check, and an ended one is not repeated at once", async () => {
  const check = (provider: string) => bridge.call("POST", `/api/v2/adapters/${provider}/check`, { token: "manager" });
  await askUntil(adapters, (answer) => answer.body.data[0].health.checkedAt !== null);
  const answers = await Promise.all(Array.from({ length: 5 }, () => check("memory")));
  for (const { status, body } of answers) {
    expect(status).toBe(200);
    expect(body).toMatchObject({ provider: "memory", health: { status: "healthy" }, nodes: [expect.any(String)] });
  }
  expect(new Set(answers.map(({ body }) => body.health.checkedAt)).size).toBe(1);
  expect((await check("absent")).body.health).toMatchObject({ status: "offline", detail: "It is not installed." });
  const unknown = await check("unknown");
  expectProblem(unknown, "not_found");
  expect(unknown.body.detail).toBe("This node has no adapter unknown. GET /api/v2/adapters lists the adapters.");
});

test.each(["provider=memory", "limit=0", "limit=201", "cursor=x"])("the list rejects ?%s", async (query) => {
  const refused = await bridge.call("GET", `/api/v2/adapters?${query}`);
  expectProblem(refused, "invalid_request");
  expect(refused.body.errors.map((fault: { path: string }) => fault.path)).toEqual([query.split("=")[0]]);
});
