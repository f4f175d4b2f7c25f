import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { type ExecutionAdapter, findEntry } from "#contract";
import { createPanelAdapter } from "../../adapters/council/index.ts";
import { catalog } from "../../adapters/index.ts";
import { createMetrics } from "../../src/metrics.ts";
import { type AdapterHost, type AdapterRegistry, createAdapterRegistry, type LoadedAdapter } from "../../src/registry/adapter-registry.ts";
import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";
import { createAdapterConfig } from "../conformance/adapter-config.ts";

const registryOf = (...loaded: LoadedAdapter[]): AdapterRegistry =>
  createAdapterRegistry({
    loaded,
    metrics: createMetrics("test"),
    logger: pino({ level: "silent" }),
  });

const host: AdapterHost = {
  configure: () => createAdapterConfig("/nowhere"),
  onEvent() {},
  onChecked() {},
  onOffline() {},
  onAvailable() {},
};

test.each([
  ["opencode", 1.5],
  ["claude", 1],
  ["codex", 1],
  ["gemini", 1],
  ["command", 1],
])("the adapter of %s has the timeout multiplier %d", async (provider, timeoutMultiplier) => {
  const module = await findEntry(catalog, provider)?.load();
  if (module === undefined) return expect.unreachable();
  expect(registryOf({ provider, adapter: module.createAdapter() }).describe(provider)).toMatchObject({ timeoutMultiplier });
});

test.each([
  [{}, 1],
  [{ timeoutMultiplier: 2.5 }, 2.5],
  [{ timeoutMultiplier: 0 }, 1],
  [{ timeoutMultiplier: -1 }, 1],
  [{ timeoutMultiplier: Number.NaN }, 1],
  [{ timeoutMultiplier: Number.POSITIVE_INFINITY }, 1],
  [{ timeoutMultiplier: "2" }, 1],
])("an external adapter with the properties %j has the timeout multiplier %d", (properties, timeoutMultiplier) => {
  const adapter = { ...createInMemoryAdapter(), ...properties };
  expect(registryOf({ provider: "memory", adapter }).describe("memory")).toMatchObject({ timeoutMultiplier });
});

test("a check on request joins a running one, and is not repeated within two seconds", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const adapter = createInMemoryAdapter();
  const checkHealth = vi.fn<ExecutionAdapter["checkHealth"]>(() => adapter.checkHealth());
  const registry = registryOf(
    { provider: "memory", adapter: { ...adapter, checkHealth } },
    { provider: "broken", adapter: null, reason: "It is not installed." },
  );
  onTestFinished(() => registry.close());
  await registry.start(host);
  expect(await registry.checkNow("memory")).toMatchObject({ health: { status: "healthy" } });
  expect(checkHealth).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(2_000);
  await Promise.all([registry.checkNow("memory"), registry.checkNow("memory")]);
  expect(checkHealth).toHaveBeenCalledTimes(2);
  expect(await registry.checkNow("broken")).toMatchObject({ health: { status: "offline", detail: "It is not installed." } });
  expect(await registry.checkNow("absent")).toBeUndefined();
});

test("checks on request and after a failed task do not depend on the system clock, which can be set back", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const adapter = createInMemoryAdapter();
  const checkHealth = vi.fn<ExecutionAdapter["checkHealth"]>(() => adapter.checkHealth());
  const registry = registryOf({ provider: "memory", adapter: { ...adapter, checkHealth } });
  onTestFinished(() => registry.close());
  await registry.start(host);
  vi.advanceTimersByTime(2_000);
  vi.setSystemTime(Date.now() - 3_600_000);
  await registry.checkNow("memory");
  expect(checkHealth).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(15_000);
  vi.setSystemTime(Date.now() - 3_600_000);
  registry.suspect("memory");
  await vi.waitFor(() => expect(checkHealth).toHaveBeenCalledTimes(3));
});

test("an offline adapter is checked again with exponential backoff, and the registry reports the time of the next check", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const offline = { status: "offline" as const, connection: null, version: null, detail: "It is still starting.", preflight: [] };
  const adapter = createInMemoryAdapter();
  const checkHealth = vi.fn<ExecutionAdapter["checkHealth"]>(async () => offline);
  const registry = registryOf(
    { provider: "memory", adapter: { ...adapter, checkHealth } },
    { provider: "broken", adapter: null, reason: "" },
  );
  onTestFinished(() => registry.close());
  await registry.start(host);
  expect([
    registry.estimateSecondsToNextCheck("memory"),
    registry.estimateSecondsToNextCheck("broken"),
    registry.estimateSecondsToNextCheck("x"),
  ]).toEqual([20, null, null]);
  const pauses: number[] = [];
  for (let checks = 1; checks < 8; checks += 1) {
    let seconds = 0;
    for (; checkHealth.mock.calls.length === checks; seconds += 1) await vi.advanceTimersByTimeAsync(1_000);
    pauses.push(seconds);
  }
  expect(pauses).toEqual([15, 30, 60, 120, 240, 300, 300]);
  checkHealth.mockImplementation(() => adapter.checkHealth());
  await vi.advanceTimersByTimeAsync(300_000);
  expect(registry.get("memory")?.health.status).toBe("healthy");
  expect(registry.estimateSecondsToNextCheck("memory")).toBe(305);
});

test("an adapter that is not loaded has no description, but the reason if there is one", () => {
  const registry = registryOf({ provider: "broken", adapter: null, reason: "It is broken." });
  expect(["broken", "missing"].map((provider) => registry.describe(provider))).toEqual([null, null]);
  expect(["broken", "missing"].map((provider) => registry.findLoadFailure(provider))).toEqual(["It is broken.", null]);
});

test("listModels() resolves to null for an adapter that cannot list its models, or fails to", async () => {
  const listing = (listModels: () => Promise<string[]>) => ({ ...createInMemoryAdapter(), listModels });
  const registry = registryOf(
    { provider: "plain", adapter: createInMemoryAdapter() },
    { provider: "failing", adapter: listing(() => Promise.reject(new Error("no"))) },
    { provider: "good", adapter: listing(async () => ["m"]) },
  );
  const models = await Promise.all(["plain", "failing", "good", "missing", "__proto__"].map((provider) => registry.listModels(provider)));
  expect(models).toEqual([null, null, ["m"], null, null]);
});

test("an adapter that cannot be subscribed to is offline, and the others start", async () => {
  const faulty: ExecutionAdapter = {
    ...createInMemoryAdapter({ run: async () => ({ output: "" }) }),
    onEvent() {
      throw new Error("No listeners.");
    },
  };
  const good = createInMemoryAdapter({ run: async () => ({ output: "" }) });
  const registry = registryOf({ provider: "faulty", adapter: faulty }, { provider: "good", adapter: good });
  onTestFinished(() => registry.close());
  await registry.start(host);
  expect(registry.get("faulty")).toMatchObject({ adapter: null, health: { status: "offline", detail: "No listeners." } });
  expect(registry.get("good")?.health.status).toBe("healthy");
});

test("a composite adapter is checked again when the health of its runtime changes, also during the start", async () => {
  const runtime = createInMemoryAdapter();
  let status: "healthy" | "offline" = "offline";
  const checkRuntime = async () => ({ ...(await runtime.checkHealth()), status, path: "/usr/bin/memory" });
  const council = createPanelAdapter("memory");
  const registry: AdapterRegistry = registryOf(
    { provider: "bridge-memory", adapter: council },
    { provider: "memory", adapter: { ...runtime, checkHealth: checkRuntime } },
  );
  onTestFinished(() => registry.close());
  await registry.start({ ...host, configure: () => createAdapterConfig("/nowhere", { describeProvider: registry.describe }) });
  const healthOf = (provider: string) => registry.get(provider)?.health.status;
  expect([healthOf("memory"), healthOf("bridge-memory")]).toEqual(["offline", "degraded"]);
  expect(registry.get("bridge-memory")?.health.detail).toContain("memory is offline");
  status = "healthy";
  const later = vi.spyOn(performance, "now").mockReturnValue(Number.MAX_SAFE_INTEGER);
  onTestFinished(() => later.mockRestore());
  await registry.checkNow("memory");
  await vi.waitFor(() => expect(healthOf("bridge-memory")).toBe("healthy"));
  expect(registry.describe("memory")).toMatchObject({ path: "/usr/bin/memory" });
});

test("an initialization that fails is repeated twice before the adapter is offline", async () => {
  const adapter = createInMemoryAdapter();
  const initialize = vi.fn<ExecutionAdapter["initialize"]>(async (config) => {
    if (initialize.mock.calls.length < 3) throw new Error("not yet");
    await adapter.initialize(config);
  });
  const registry = registryOf({ provider: "memory", adapter: { ...adapter, initialize } });
  onTestFinished(() => registry.close());
  await registry.start(host);
  expect(initialize).toHaveBeenCalledTimes(3);
  expect(registry.get("memory")?.health.status).toBe("healthy");
});

test.each([
  ["a text", { content: "hello" }, ["hello"]],
  ["a number", { content: 7 }, []],
  ["an object", { content: { text: "hello" } }, []],
  ["nothing", {}, []],
])("a text event of an adapter whose content is %s is passed on only if it is a string", async (_, data, expected) => {
  const received: unknown[] = [];
  const listeners: Parameters<NonNullable<ExecutionAdapter["onEvent"]>>[0][] = [];
  const adapter: ExecutionAdapter = { ...createInMemoryAdapter(), onEvent: (listener) => void listeners.push(listener) };
  const registry = registryOf({ provider: "memory", adapter });
  onTestFinished(() => registry.close());
  await registry.start({ ...host, onEvent: (_provider, event) => void received.push((event.data as { content: unknown }).content) });
  for (const listener of listeners) listener({ type: "assistant.text", taskId: "t1", data } as Parameters<typeof listener>[0]);
  expect(received).toEqual(expected);
});
