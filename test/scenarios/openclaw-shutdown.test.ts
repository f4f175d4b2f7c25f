import { expect, test } from "vitest";
import { type FakeGateway, messageFor, startFakeGateway } from "../adapters/openclaw/fake-gateway.ts";
import { type BridgeProgram, dispatchTask, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Starts Bridge as a program that runs its tasks on the gateway. */
async function startWith(fake: FakeGateway, environment: Record<string, string> = {}) {
  const dataDir = await temporaryDirectory();
  const settings = { BRIDGE_ADAPTERS: "openclaw", BRIDGE_OPENCLAW_URL: fake.url, BRIDGE_OPENCLAW_TOKEN: fake.token, ...environment };
  const start = () => startBridgeProgram(dataDir, settings);
  const bridge = await start();
  await expect.poll(async () => (await bridge.call("GET", "/readyz")).status, { timeout: 15_000 }).toBe(200);
  return { bridge, restart: start };
}

/** Dispatches a task whose run continues until the test ends it, and resolves when the run is active. */
async function startRun(bridge: BridgeProgram, fake: FakeGateway) {
  const answer = await dispatchTask(bridge, { taskId: "t", agentId: "main", ...messageFor({ hang: true }) });
  expect(answer.status).toBe(202);
  await expect.poll(() => fake.runs.size, { timeout: 15_000 }).toBe(1);
  const [found] = fake.runs;
  if (found === undefined) throw new Error("there is no run");
  return { runId: found[0], run: found[1] };
}

const running = (fake: FakeGateway) => [...fake.runs.values()].filter(({ status }) => status === "running");
const callsOf = (fake: FakeGateway, method: string) => fake.calls.filter((call) => call.method === method);

test("Bridge waits for a run on the gateway within its drain time after SIGTERM", async () => {
  const fake = await startFakeGateway();
  const { bridge, restart } = await startWith(fake);
  const { run } = await startRun(bridge, fake);
  bridge.signal("SIGTERM");
  await expect.poll(async () => (await bridge.call("GET", "/readyz")).status).toBe(503);
  expect(running(fake)).toHaveLength(1);
  run.reply = "Done in time.";
  run.settle("speak");
  expect(await bridge.exited).toBe(0);
  expect(callsOf(fake, "sessions.abort")).toEqual([]);
  expect(await taskInState(await restart(), "t", "completed")).toMatchObject({ result: { output: "Done in time." } });
});

test("after the drain time the run is stopped on the gateway before Bridge exits, and its task is recorded", async () => {
  const fake = await startFakeGateway();
  const { bridge, restart } = await startWith(fake, { BRIDGE_DRAIN_SECONDS: "1" });
  await startRun(bridge, fake);
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
  expect(running(fake)).toEqual([]);
  expect(callsOf(fake, "sessions.abort").length).toBeGreaterThan(0);
  expect(await taskInState(await restart(), "t", "failed")).toMatchObject({ result: { errorCode: "bridge_shutdown" } });
});

test("the run is stopped even while the connection to the gateway is being re-established", async () => {
  const fake = await startFakeGateway();
  const { bridge, restart } = await startWith(fake, { BRIDGE_DRAIN_SECONDS: "0" });
  await startRun(bridge, fake);
  fake.disconnectAll();
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
  expect(running(fake)).toEqual([]);
  expect(await taskInState(await restart(), "t", "failed")).toMatchObject({ result: { errorCode: "bridge_shutdown" } });
});

test("after SIGTERM the gateway drains its runs, whose tasks end with their outcome, and later tasks wait for its next start", async () => {
  const fake = await startFakeGateway();
  const { bridge } = await startWith(fake);
  const { run } = await startRun(bridge, fake);
  fake.drain();
  expect((await dispatchTask(bridge, { taskId: "later", agentId: "main", ...messageFor({ text: "Later." }) })).status).toBe(202);
  await expect.poll(() => callsOf(fake, "sessions.create").length).toBeGreaterThan(1);
  await taskInState(bridge, "t", "running");
  await taskInState(bridge, "later", "running");
  run.reply = "Drained.";
  run.settle("speak");
  fake.restart();
  expect(await taskInState(bridge, "t", "completed")).toMatchObject({ result: { output: "Drained." } });
  expect(await taskInState(bridge, "later", "completed")).toMatchObject({ result: { output: "Later." } });
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
});
