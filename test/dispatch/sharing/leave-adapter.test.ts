import { expect, test, vi } from "vitest";
import type { ExecutionAdapter } from "#contract";
import type { TaskRequest } from "../../../src/task.ts";
import { createInMemoryAdapter, type Run } from "../../adapters/in-memory-adapter.ts";
import { caller, endOf, newDispatch, startEngine } from "../engine.ts";
import { createHeldRuntime } from "../runtimes.ts";

type Engine = Awaited<ReturnType<typeof startEngine>>;

const fallbacks = [{ provider: "second" }, { provider: "third", model: "large" }];
const answer: Run = async ({ model }) => ({ output: `Done by ${model ?? "the default"}.` });

/** An adapter that is offline while `offline` contains its name. */
function createAdapter(provider: string, offline: ReadonlySet<string>, run: Run): ExecutionAdapter {
  const adapter = createInMemoryAdapter({ provider, run });
  const health = { status: "offline" as const, connection: null, version: null, detail: "unplugged", preflight: [] };
  return { ...adapter, checkHealth: async () => (offline.has(provider) ? health : adapter.checkHealth()) };
}

async function start(offline: ReadonlySet<string>) {
  const { run, held } = createHeldRuntime();
  const adapters = [
    createAdapter("first", offline, run),
    createAdapter("second", offline, answer),
    createAdapter("third", offline, answer),
  ];
  const engine = await startEngine(adapters, { maxConcurrent: () => 1, checkIntervalMs: 20 });
  return { engine, held };
}

const dispatch = async ({ dispatcher }: Engine, taskId: string, request: Partial<TaskRequest> = {}) =>
  (await dispatcher.admitTask(newDispatch({ taskId, provider: "first", request: { fallbacks, ...request } }), caller)).task;

test("a queued task whose adapter goes offline continues on its first fallback that is not, and another one ends", async () => {
  const offline = new Set<string>();
  const { engine, held } = await start(offline);
  const running = await dispatch(engine, "running");
  await vi.waitFor(() => expect(held).toHaveLength(1));
  const waiting = [await dispatch(engine, "a", { model: "small" }), await dispatch(engine, "b", { model: "small" })];
  const { task: alone } = await engine.dispatcher.admitTask(newDispatch({ taskId: "alone", provider: "first" }), caller);
  offline.add("second");
  await vi.waitFor(() => expect(engine.registry.get("second")?.health.status).toBe("offline"));
  offline.add("first");
  for (const task of waiting) {
    const { state, provider, result } = await endOf(engine, task);
    expect({ state, provider, output: result?.output }).toEqual({ state: "completed", provider: "third", output: "Done by large." });
    expect(result?.attempts?.map((attempt) => [attempt.provider, attempt.model, attempt.startedAt !== null, attempt.reason])).toEqual([
      ["first", "small", false, expect.stringMatching(/^The adapter first is offline/)],
      ["second", null, false, expect.stringMatching(/^The adapter second is offline/)],
      ["third", "large", true, null],
    ]);
    expect(engine.eventsOf(task.taskId).filter(({ type }) => type === "execution.started")).toHaveLength(1);
  }
  expect((await endOf(engine, alone)).result?.errorCode).toBe("adapter_offline");
  held[0]?.release();
  await endOf(engine, running);
  for (const provider of ["first", "third"])
    await vi.waitFor(() => expect(engine.dispatcher.load(provider)).toMatchObject({ running: 0, queued: 0 }));
});

test("a queued task whose adapter and fallbacks are all offline ends with the reason of its adapter", async () => {
  const offline = new Set<string>();
  const { engine, held } = await start(offline);
  await dispatch(engine, "running");
  await vi.waitFor(() => expect(held).toHaveLength(1));
  const waiting = await dispatch(engine, "waiting");
  offline.add("second").add("third");
  await vi.waitFor(() => expect(engine.registry.get("third")?.health.status).toBe("offline"));
  await vi.waitFor(() => expect(engine.registry.get("second")?.health.status).toBe("offline"));
  offline.add("first");
  const { result } = await endOf(engine, waiting);
  expect(result).toMatchObject({ errorCode: "adapter_offline", error: expect.stringMatching(/^The adapter first is offline/) });
  held[0]?.release();
});

test("a restart without the adapter of queued tasks continues them on their fallbacks, also if the next one is found offline", async () => {
  const { engine: first, held } = await start(new Set());
  await dispatch(first, "running");
  await vi.waitFor(() => expect(held).toHaveLength(1));
  const waiting = await dispatch(first, "waiting");
  await first.stop();
  const offline = new Set(["second"]);
  const adapters = [createAdapter("second", offline, answer), createAdapter("third", offline, answer)];
  const second = await startEngine(adapters, { dataDir: first.dataDir, maxConcurrent: () => 1 });
  const { provider, result } = await endOf(second, waiting);
  expect([provider, result?.output]).toEqual(["third", "Done by large."]);
  expect(result?.attempts?.map((attempt) => [attempt.provider, attempt.reason])).toEqual([
    ["first", "The adapter first is not loaded. Add it to BRIDGE_ADAPTERS."],
    ["second", expect.stringMatching(/^The adapter second is offline/)],
    ["third", null],
  ]);
});

test("the session of a queued task does not move to another adapter", async () => {
  const offline = new Set<string>();
  const { engine, held } = await start(offline);
  const { task: running } = await engine.dispatcher.admitTask(newDispatch({ taskId: "running", provider: "first" }), caller);
  await vi.waitFor(() => expect(held).toHaveLength(1));
  vi.spyOn(engine.store, "isResumeTokenKnown").mockResolvedValue(true);
  const waiting = await dispatch(engine, "waiting", { resumeToken: "session" });
  offline.add("first");
  expect((await endOf(engine, waiting)).result?.errorCode).toBe("adapter_offline");
  held[0]?.release();
  await endOf(engine, running);
});
