import { once } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { AdapterConfig, AdapterEvent, ModelLimit } from "#contract";
import type { ConnectionResult, ProgramTask } from "../../../../adapters/shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../../../../adapters/shared/agent-program/create-program-adapter.ts";
import type { ProxyPlan } from "../../../../adapters/shared/model-proxy/proxy-plan.ts";
import { createAdapterConfig } from "../../../conformance/adapter-config.ts";
import { createExecutionRequest } from "../../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { openVendor, SECRET, sendMessage } from "../model-proxy/proxy-bench.ts";
import { scriptedConnection, scriptedProgram } from "./scripted-program.ts";

interface GivenVendor {
  mode?: string;
  statuses?: number[];
  retryAfter?: string;
  plan?: ProxyPlan;
}

/** Opens an adapter whose program calls the model at KEY_URL with KEY, and a vendor that answers with these statuses. */
async function openAdapter(
  execute: (task: ProgramTask) => Promise<ConnectionResult>,
  { mode = "on", statuses = [], retryAfter = "60", plan, ...config }: Partial<AdapterConfig> & GivenVendor = {},
) {
  const keys: unknown[] = [];
  const vendor = await openVendor((request, response) => {
    keys.push(request.headers["x-api-key"]);
    const status = statuses.shift() ?? 200;
    if (status === 200) sendMessage(response);
    else response.writeHead(status, { "retry-after": retryAfter }).end("{}");
  });
  const root = await temporaryDirectory();
  const possible: ProxyPlan = {
    routes: [{ name: "main", protocol: "anthropic", baseUrl: vendor.url, secret: SECRET }],
    apply: ({ main }) => ({ env: { KEY: main?.key, KEY_URL: main?.baseUrl }, settings: { home: "agent", env: [] } }),
  };
  const connection = scriptedConnection({ execute, planProxy: () => plan ?? possible });
  const adapter = createProgramAdapter(scriptedProgram(connection));
  const events: AdapterEvent[] = [];
  adapter.onEvent((event) => events.push(event));
  onTestFinished(() => adapter.shutdown());
  await adapter.initialize(
    createAdapterConfig(root, { env: { KEY: SECRET, KEY_URL: vendor.url }, settings: { modelProxy: mode }, ...config }),
  );
  const run = (taskId = "t1") => adapter.execute(createExecutionRequest(root, { message: "hello", taskId }));
  return { adapter, run, events, keys };
}

const callModel = ({ env }: ProgramTask["context"]): Promise<Response> =>
  fetch(`${env["KEY_URL"]}/v1/messages`, { method: "POST", headers: { "x-api-key": env["KEY"] ?? "" } });

const ask = async ({ context }: ProgramTask): Promise<ConnectionResult> => {
  await (await callModel(context)).text();
  return { status: "ok", output: "Done." };
};

describe("through the proxy", () => {
  test("a task has no real key, and its usage is emitted before its result", async () => {
    const seen: string[] = [];
    const { run, events, keys, adapter } = await openAdapter(async (task) => {
      seen.push(JSON.stringify(task.context.env));
      return await ask(task);
    });
    expect(await run()).toMatchObject({ status: "ok" });
    const usage = { inputTokens: 140, outputTokens: 30, cacheReadTokens: 20 };
    expect(events.filter(({ type }) => type === "usage.reported")).toMatchObject([
      { taskId: "t1", data: { model: "claude-sonnet-4-5", usage, call: { status: 200 } } },
    ]);
    expect(keys).toEqual([SECRET]);
    expect(seen.join()).not.toContain(SECRET);
    expect(adapter.capabilities()).toMatchObject({ holdsModelCalls: true });
  });

  test("a task has its own key, which is invalid after its end", async () => {
    const contexts: ProgramTask["context"][] = [];
    const { run } = await openAdapter(async (task) => {
      contexts.push(task.context);
      return await ask(task);
    });
    await Promise.all([run("t1"), run("t2")]);
    expect(new Set(contexts.map(({ env }) => env["KEY"])).size).toBe(2);
    for (const context of contexts) expect((await callModel(context)).status).toBe(401);
  });

  test("Bridge decides about each call before it is forwarded", async () => {
    const asked: string[] = [];
    const { run, keys } = await openAdapter(
      async ({ context }) => {
        const statuses = [(await callModel(context)).status, (await callModel(context)).status];
        return { status: "ok", output: statuses.join() };
      },
      {
        mayCallModel: async (taskId) => {
          asked.push(taskId);
          return asked.length === 1 ? { allowed: true } : { allowed: false, reason: "The budget is used up." };
        },
      },
    );
    expect(await run("t7")).toMatchObject({ output: "200,402" });
    expect([asked, keys.length]).toEqual([["t7", "t7"], 1]);
  });

  test("a task fails as rate limited if its program reports a rejected call as a normal end", async () => {
    const limits: ModelLimit[] = [];
    const { run } = await openAdapter(ask, { statuses: [429], onModelLimited: (limit) => void limits.push(limit) });
    expect(await run()).toMatchObject({ status: "error", errorCode: "rate_limited", error: expect.stringContaining("429") });
    expect(limits).toMatchObject([{ taskId: "t1", resetsAt: expect.any(Number) }]);
  });

  test.each([
    ["You've hit your limit · resets 3pm (UTC)", "rate_limited"],
    ["The file has four lines.", undefined],
    ["I added a rate limiter; the handler now answers 429.", undefined],
  ])("a task whose last call is rejected, and whose answer is %j, ends with %s", async (output, errorCode) => {
    const execute = async (task: ProgramTask): Promise<ConnectionResult> => {
      await ask(task);
      await ask(task);
      return { status: "ok", output };
    };
    const { run } = await openAdapter(execute, { statuses: [200, 429] });
    expect((await run()).errorCode).toBe(errorCode);
  });

  test("a program that waits for the end of a distant limit is stopped, and its task fails as rate limited", async () => {
    const limits: ModelLimit[] = [];
    const waits = Promise.withResolvers<void>();
    const execute = async (task: ProgramTask): Promise<ConnectionResult> => {
      await ask(task);
      waits.resolve();
      await once(task.signal, "abort");
      return { status: "error", errorCode: "cancelled", error: "The program was stopped." };
    };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { run } = await openAdapter(execute, { statuses: [429], retryAfter: "7200", onModelLimited: (limit) => void limits.push(limit) });
    const running = run();
    await waits.promise;
    await vi.advanceTimersByTimeAsync(30_000);
    const { errorCode, error } = await running;
    expect(limits).toMatchObject([{ taskId: "t1" }]);
    const end = new Date(limits[0]?.resetsAt ?? 0).toISOString();
    expect([errorCode, error]).toEqual([
      "rate_limited",
      `The vendor rejected a call of the model with status 429. The limit ends at ${end}.`,
    ]);
  });

  test("a task succeeds if a call is answered after a rejected one", async () => {
    const execute = async (task: ProgramTask): Promise<ConnectionResult> => {
      await ask(task);
      return await ask(task);
    };
    const { run } = await openAdapter(execute, { statuses: [429, 200] });
    expect(await run()).toMatchObject({ status: "ok" });
  });
});

describe("the modes of the proxy", () => {
  const impossible: ProxyPlan = { impossible: "the login is in the operator's home." };
  const stepOf = async (adapter: Awaited<ReturnType<typeof openAdapter>>["adapter"]) => {
    const health = await adapter.checkHealth();
    return { status: health.status, step: health.preflight.find(({ step }) => step === "model proxy") };
  };

  test("off: tasks get the real key, and the preflight has no step", async () => {
    const { adapter, run, events, keys } = await openAdapter(ask, { mode: "off" });
    expect((await stepOf(adapter)).step).toBeUndefined();
    await run();
    expect(keys).toEqual([SECRET]);
    expect(events.filter(({ type }) => type === "usage.reported")).toEqual([]);
    expect(adapter.capabilities()).not.toHaveProperty("holdsModelCalls");
  });

  test("on: a task runs without the proxy where it is not possible, and the preflight has the reason", async () => {
    const { adapter, run } = await openAdapter(ask, { plan: impossible });
    expect(await stepOf(adapter)).toMatchObject({
      status: "healthy",
      step: { ok: true, detail: expect.stringMatching(/^not possible: the login/) },
    });
    expect(await run()).toMatchObject({ status: "ok" });
    expect(adapter.capabilities()).not.toHaveProperty("holdsModelCalls");
  });

  test("required: the adapter is offline where the proxy is not possible, and runs no task", async () => {
    const { adapter, run, keys } = await openAdapter(ask, { mode: "required", plan: impossible });
    expect(await stepOf(adapter)).toMatchObject({ status: "offline", step: { ok: false } });
    expect((await adapter.checkHealth()).detail).toContain("the login is in the operator's home.");
    expect(await run()).toMatchObject({ errorCode: "adapter_offline", error: expect.stringContaining("the operator's home") });
    expect(keys).toEqual([]);
  });
});
