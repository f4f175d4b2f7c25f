import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BridgeError } from "../../../src/errors.ts";
import { healthRoutes } from "../../../src/http/routes/health.ts";
import type { AdapterRegistry } from "../../../src/registry/adapter-registry.ts";
import { createAvailableAdapters } from "../../../src/registry/available-adapters.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { loneView } from "../../dispatch/engine.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";
import { createBareServer } from "../bare-server.ts";

/** The names that Prometheus defines for every program. */
const PROCESS_METRICS = ["process_resident_memory_bytes", "process_open_fds", "process_cpu_seconds_total", "process_start_time_seconds"];

describe("a running Bridge", () => {
  let bridge: Bridge;
  beforeAll(async () => {
    bridge = await startBridge();
  });
  afterAll(() => bridge.close());

  test.each(["/healthz", "/health"])("%s returns only ok, without a token", async (target) => {
    const { status, body } = await bridge.call("GET", target, { token: null });
    expect([status, body]).toEqual([200, { status: "ok" }]);
  });

  test("/readyz returns ok without a token if Bridge can accept tasks", async () => {
    const { body } = await askUntil(
      () => bridge.call("GET", "/readyz", { token: null }),
      ({ status }) => status === 200,
    );
    expect(body).toEqual({ status: "ok" });
  });

  test("/metrics requires the scope metrics", async () => {
    await bridge.dispatch({ taskId: "counted" });
    await bridge.dispatch({ taskId: "counted" });
    await bridge.dispatch({ provider: "made-up" });
    const { status, headers, text } = await bridge.call("GET", "/metrics", { token: "scraper" });
    expect([status, headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    for (const outcome of ["accepted", "replayed"])
      expect(text).toContain(`bridge_dispatches_total{provider="memory",outcome="${outcome}"} 1`);
    expect(text).toContain('bridge_dispatches_total{provider="unknown",outcome="unknown_provider"} 1');
    expect(text).toContain('bridge_tasks_queued{provider="memory"} 0');
    expect(text).not.toContain("made-up");
  });

  test("/metrics has every documented series with a help text", async () => {
    const { text } = await bridge.call("GET", "/metrics", { token: "scraper" });
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
    expect(Object.fromEntries(types)).toMatchObject({
      bridge_dispatches_total: "counter",
      bridge_execution_duration_seconds: "histogram",
      bridge_executions_in_flight: "gauge",
      bridge_callback_attempts_total: "counter",
      bridge_callback_dead_total: "counter",
      bridge_callback_delivery_lag_seconds: "histogram",
      bridge_sse_clients: "gauge",
      bridge_sse_slow_disconnect_total: "counter",
      bridge_tokens_total: "counter",
      bridge_cost_usd_total: "counter",
      bridge_adapter_up: "gauge",
      bridge_orphans_killed_total: "counter",
      bridge_build_info: "gauge",
    });
    for (const name of types.keys()) {
      if (!PROCESS_METRICS.includes(String(name))) expect(name).toMatch(/^bridge_/);
      expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, "m"));
    }
  });

  test("/metrics can be made public", async () => {
    const open = await startBridge({ BRIDGE_METRICS_PUBLIC: "true" });
    expect((await open.call("GET", "/metrics", { token: null })).status).toBe(200);
    await open.close();
  });
});

describe("readiness", () => {
  const online = [{ health: { status: "degraded" } }, { health: { status: "offline" } }];
  const start = async (dependencies: {
    draining?: boolean;
    adapters?: object[];
    checkWritable?: () => Promise<void>;
  }): Promise<FastifyInstance> => {
    const app = await createBareServer();
    const adapter = createInMemoryAdapter();
    const entries = (dependencies.adapters ?? online).map((entry, index) => ({ provider: `adapter-${index}`, adapter, ...entry }));
    const registry = { list: () => entries, get: (name: string) => entries.find(({ provider }) => provider === name) };
    await app.register(healthRoutes, {
      dispatcher: { draining: dependencies.draining ?? false },
      adapters: createAvailableAdapters(registry as unknown as AdapterRegistry, loneView),
      checkWritable: dependencies.checkWritable ?? (async () => {}),
    });
    return app;
  };
  const full = async () => {
    throw new BridgeError("storage_unavailable", "Bridge cannot write to its database at the moment.");
  };

  test.each([
    ["draining", { draining: true }],
    ["adapter_offline", { adapters: [{ health: { status: "offline" } }] }],
    ["adapter_offline", { adapters: [] }],
    ["storage_unavailable", { checkWritable: full }],
  ])("readiness fails with %s", async (code, dependencies) => {
    const answer = await (await start(dependencies)).inject("/readyz");
    expect([answer.statusCode, answer.json().code, answer.headers["retry-after"]]).toEqual([503, code, "5"]);
  });

  test("concurrent readiness checks share one write", async () => {
    let writes = 0;
    const app = await start({
      checkWritable: async () => {
        writes += 1;
      },
    });
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.inject("/readyz")));
    expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true);
    expect(writes).toBe(1);
  });
});
