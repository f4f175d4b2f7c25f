import { expect, test } from "vitest";
import { scaled } from "../harness/machine.ts";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const report = (model: string, inputTokens: number, costUsd?: number) =>
  `echo '${JSON.stringify({ type: "usage.reported", model, usage: { inputTokens, outputTokens: 0 }, costUsd })}'`;

test("a task shows what it has spent while it runs, and after kill -9", { timeout: scaled(120_000) }, async () => {
  const dataDir = await temporaryDirectory();
  const script = `${report("gpt-5.2", 1_000_000)}; ${report("gpt-5.2", 1000, 0.25)}; sleep 300`;
  const first = await startBridgeProgram(dataDir, shellCommand(script));
  const read = async (bridge: typeof first) => (await (await bridge.call("GET", "/api/v2/tasks/t")).json()) as Record<string, unknown>;
  await dispatchTask(first, { taskId: "t", agentId: "a", message: "x" });
  const spent = { usage: { inputTokens: 1_001_000, outputTokens: 0 }, costUsd: 2, costSource: "priced" };
  await expect.poll(() => read(first)).toMatchObject({ state: "running", ...spent, result: null });
  // Its commit includes the events before it.
  await dispatchTask(first, { taskId: "later", agentId: "a", message: "x" });
  first.signal("SIGKILL");
  await first.exited;

  const second = await startBridgeProgram(dataDir, shellCommand("exit 0"));
  const interrupted = { state: "failed", ...spent, result: { errorCode: "bridge_restarted", ...spent } };
  expect(await taskInState(second, "t", "failed")).toMatchObject(interrupted);
});

test("the sum of the reports is the usage of a program whose result has none", async () => {
  const bridge = await startBridgeProgram(await temporaryDirectory(), {
    ...shellCommand(`${report("a", 10)}; ${report("b", 20)}; echo '{"type":"result","output":"done"}'`),
    BRIDGE_MODEL_PRICES: JSON.stringify({ a: { input: 1e5, output: 0 }, b: { input: 1e6, output: 0 } }),
    NODE_DEBUG_NATIVE: "COMPILE_CACHE",
  });
  await expect.poll(() => bridge.stderr()).toContain("src/main.ts");
  expect(bridge.stderr()).not.toContain("genai-prices");
  await dispatchTask(bridge, { taskId: "t", agentId: "a", message: "x" });
  const spent = { usage: { inputTokens: 30, outputTokens: 0 }, costUsd: 21, costSource: "priced" };
  expect(await taskInState(bridge, "t", "completed")).toMatchObject({ ...spent, result: { output: "done", ...spent } });
  expect(await (await bridge.call("GET", "/api/v2/tasks")).json()).toMatchObject({ data: [spent] });
  expect(bridge.stderr()).toContain("genai-prices");
  expect(bridge.log.find(({ msg }) => msg === "task ended")).toMatchObject(spent);
});

test("a task that runs again counts what its first run has spent", { timeout: scaled(120_000) }, async () => {
  const dataDir = await temporaryDirectory();
  const script = `[ -e flag ] && { ${report("m", 5, 0.5)}; exit 0; }; touch flag; ${report("m", 10, 0.25)}; sleep 300`;
  const first = await startBridgeProgram(dataDir, shellCommand(script));
  await dispatchTask(first, { taskId: "t", agentId: "a", message: "x", onInterrupt: "retry", profile: "modify" });
  await expect.poll(async () => (await first.call("GET", "/api/v2/tasks/t")).json()).toMatchObject({ costUsd: 0.25 });
  await dispatchTask(first, { taskId: "later", agentId: "b", message: "x" });
  first.signal("SIGKILL");
  await first.exited;
  const second = await startBridgeProgram(dataDir, shellCommand(script));
  const spent = { usage: { inputTokens: 15, outputTokens: 0 }, costUsd: 0.75, costSource: "runtime" };
  expect(await taskInState(second, "t", "completed")).toMatchObject({ ...spent, result: spent });
});
