import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { AdapterConfig } from "#contract";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";

/** An adapter like the council: its result repeats what its child tasks have used. */
function createComposite() {
  let config: AdapterConfig | undefined;
  const adapter = createInMemoryAdapter({
    provider: "composite",
    async run({ taskId: parentTaskId }) {
      const runChild = (config as AdapterConfig).runChild;
      const children = [await runChild({ parentTaskId, provider: "memory", message: "look" })];
      children.push(await runChild({ parentTaskId, provider: "narrow", message: "look" }));
      return { output: "done", model: "several", costUsd: children.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0) };
    },
  });
  const initialize = async (given: AdapterConfig): Promise<void> => {
    config = given;
    await adapter.initialize(given);
  };
  return { provider: "composite", adapter: { ...adapter, initialize } };
}

let bridge: Bridge;
const waited = { headers: { prefer: "wait=20" } };
beforeAll(async () => {
  bridge = await startBridge();
  await bridge.dispatch({ agentId: "writer", message: "look", labels: { team: "docs", stage: "test" } }, waited);
  await bridge.dispatch({ agentId: "writer", message: "fail", labels: { team: "docs" } }, waited);
  await bridge.dispatch({ agentId: "auditor", provider: "narrow", model: "large" }, waited);
  await bridge.dispatch({ agentId: "foreign", message: "look" }, { token: "beta", ...waited });
});
afterAll(() => bridge.close());

const stats = async (query: string) => (await bridge.call("GET", `/api/v2/stats?${query}`, { token: "reader" })).body;
const priced = {
  ...{ tasks: 1, completed: 1, failed: 0, cancelled: 0, durationMs: expect.any(Number), costUsd: 0.25, tasksWithoutCost: 0 },
  ...{ inputTokens: 5, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 0, tasksWithoutUsage: 0 },
};
const unknown = { costUsd: null, inputTokens: null, outputTokens: null, cacheReadTokens: null, cacheWriteTokens: null };

test("the sums of a window are grouped by agent, adapter, model and label, and a sum is null if it is unknown for all tasks", async () => {
  const { total, data, other, ...rest } = await stats("window=7d&by=agent");
  expect(rest).toEqual({ window: "7d", by: "agent", from: expect.stringMatching(/T00:00:00\.000Z$/), to: expect.any(String) });
  expect(total).toMatchObject({ tasks: 3, completed: 2, failed: 1, cancelled: 0, inputTokens: 5, costUsd: 0.25, tasksWithoutCost: 2 });
  expect(data).toMatchObject([
    { key: "writer", tasks: 2, failed: 1, costUsd: 0.25, tasksWithoutCost: 1, tasksWithoutUsage: 1 },
    { key: "auditor", tasks: 1, ...unknown, tasksWithoutCost: 1, tasksWithoutUsage: 1 },
  ]);
  expect(other).toBeNull();
  expect((await stats("by=provider")).data).toMatchObject([
    { key: "memory", tasks: 2 },
    { key: "narrow", tasks: 1 },
  ]);
  expect((await stats("by=model")).data).toMatchObject([
    { key: "small", ...priced },
    { key: null, failed: 1 },
    { key: "large", ...unknown },
  ]);
  const labels = await stats("by=label");
  expect(labels.total).toMatchObject({ tasks: 3 });
  expect(labels.data).toMatchObject([
    { key: "team=docs", tasks: 2, costUsd: 0.25 },
    { key: "stage=test", ...priced },
  ]);
});

test("hours and days are complete and in order", async () => {
  for (const [query, length] of [
    ["window=24h&by=hour", 24],
    ["window=30d&by=day", 30],
    ["window=365d&by=day", 365],
  ] as const) {
    const { data, total, from } = await stats(query);
    const keys = data.map(({ key }: { key: string }) => key);
    expect([keys.length, keys[0], keys]).toEqual([length, from, keys.toSorted()]);
    expect(data.at(-1).tasks + data.at(-2).tasks).toBe(total.tasks);
  }
  expect((await stats("window=30d&by=hour")).data.length).toBeGreaterThan(29 * 24);
});

test("hours and days can be split by agent, adapter or model", async () => {
  const { data, total } = await stats("window=24h&by=hour&split=agent&limit=1");
  const latest = data.filter(({ tasks }: { tasks: number }) => tasks > 0);
  expect(data).toHaveLength(24);
  expect(data.find(({ tasks }: { tasks: number }) => tasks === 0)).toMatchObject({ parts: [], otherParts: null });
  // The tasks of this file may end in two hours.
  const tasksOf = (read: (group: { parts: { key: string; tasks: number }[]; otherParts: { tasks: number } | null }) => number): number =>
    latest.map(read).reduce((sum: number, tasks: number) => sum + tasks, 0);
  expect(tasksOf(({ parts }) => parts.find(({ key }) => key === "writer")?.tasks ?? 0)).toBe(2);
  expect(tasksOf(({ otherParts }) => otherParts?.tasks ?? 0)).toBe(1);
  expect(total.tasks).toBe(3);
  const byModel = await stats("window=7d&by=day&split=model");
  expect(byModel.data.flatMap(({ parts }: { parts: object[] }) => parts)).toContainEqual({ key: "small", ...priced });
});

test("groups beyond the limit are summed up as others", async () => {
  const { data, other } = await stats("by=agent&limit=1");
  expect([data.length, data[0].key, other.tasks]).toEqual([1, "writer", 1]);
});

test("the sums contain nothing of other tenants", async () => {
  const { body } = await bridge.call("GET", "/api/v2/stats?by=agent", { token: "beta" });
  expect([body.total.tasks, body.data.map(({ key }: { key: string }) => key)]).toEqual([1, ["foreign"]]);
});

test("deleted tasks remain in the sums", async () => {
  await bridge.dispatch({ agentId: "deleted", taskId: "deleted-1" }, { token: "beta", ...waited });
  expect((await bridge.call("DELETE", "/api/v2/tasks/deleted-1", { token: "beta" })).status).toBe(204);
  const { body } = await bridge.call("GET", "/api/v2/stats?by=agent", { token: "beta" });
  expect(body.data).toContainEqual(expect.objectContaining({ key: "deleted", completed: 1 }));
});

test("the cost of child tasks is counted once, under their adapters, and under the labels of their parent", async () => {
  const composed = await startBridge({}, { adapters: [createComposite()] });
  onTestFinished(() => composed.close());
  await composed.dispatch({ provider: "composite", labels: { team: "docs" } }, waited);
  const sums = async (by: string) => (await composed.call("GET", `/api/v2/stats?by=${by}`)).body;
  const { total, data } = await sums("provider");
  expect(total).toMatchObject({ tasks: 3, costUsd: 0.5, tasksWithoutCost: 0, tasksWithoutUsage: 0, inputTokens: 10 });
  expect(data).toMatchObject([
    { key: "memory", costUsd: 0.25 },
    { key: "narrow", costUsd: 0.25 },
    { key: "composite", tasks: 1, costUsd: 0 },
  ]);
  expect((await sums("label")).data).toMatchObject([{ key: "team=docs", tasks: 1, costUsd: 0.5 }]);
});

test("a range contains the hours that it touches, and its dates begin at midnight UTC", async () => {
  const hour = (offset: number) => new Date((Math.floor(Date.now() / 3_600_000) + offset) * 3_600_000).toISOString();
  const { window, from, to, total, data } = await stats(`from=${hour(-1)}&to=${hour(1)}&by=agent`);
  expect([window, from, to < hour(1), total.tasks]).toEqual([null, hour(-1), true, 3]);
  expect(data.map(({ key }: { key: string }) => key)).toEqual(["writer", "auditor"]);
  expect((await stats(`from=${hour(-3)}&to=${hour(-2)}&by=model`)).total.tasks).toBe(0);
  expect(await stats("from=2026-01-01&to=2026-01-03&by=day")).toMatchObject({
    from: "2026-01-01T00:00:00.000Z",
    to: "2026-01-03T00:00:00.000Z",
    data: [{ key: "2026-01-01T00:00:00.000Z", tasks: 0 }, { key: "2026-01-02T00:00:00.000Z" }],
  });
  expect((await stats(`from=${hour(-1).slice(0, 10)}`)).total.tasks).toBe(3);
});

test.each([
  ["window=24h&from=2026-01-01", "window", "must not be combined"],
  ["to=2026-01-01", "from", "is missing"],
  ["from=2026-01-02&to=2026-01-01", "from", "must be before `to`"],
  ["from=2026-01-02&to=2026-01-02", "from", "must be before `to`"],
  ["from=9000-01-01", "from", "must be before the present"],
  ["from=9000-01-01&to=9000-01-02", "from", "must be before the present"],
  ["split=model", "split", "possible only with"],
  ["by=hour&split=agent&limit=11", "limit", "must be at most 10"],
  ["from=2025-01-01&to=2026-06-01", "from", "at most 400 days"],
  ["from=2026-01-01&to=2026-03-01&by=hour", "by", "use `day`"],
  ["from=2026-01-01T00:00:00", "from", "a time with a time zone"],
  ["from=yesterday", "from", "a time with a time zone"],
])("the sums reject ?%s, and name %s", async (query, name, message) => {
  const response = await bridge.call("GET", `/api/v2/stats?${query}`);
  expectProblem(response, "invalid_request");
  expect(response.body.errors).toEqual([expect.objectContaining({ message: expect.stringContaining(message) })]);
  expect(JSON.stringify(response.body.errors)).toContain(name);
});

test.each(["window=1h", "by=tenant", "limit=0", "limit=101", "window=90d&by=hour", "by=day&split=label", "tenant=beta"])(
  "the sums reject ?%s",
  async (query) => {
    expectProblem(await bridge.call("GET", `/api/v2/stats?${query}`), "invalid_request");
  },
);
