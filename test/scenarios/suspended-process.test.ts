import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { until } from "../support/until.ts";

const LIMIT_MS = 60_000;
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

test("a task that keeps emitting is not idle, although Bridge itself was paused for longer than the limit", async () => {
  const dataDir = await temporaryDirectory();
  const [turns, gate] = [path.join(dataDir, "turns"), path.join(dataDir, "gate")];
  // The agent writes and counts ten lines per second: four seconds are at least 40 lines.
  const script = `for turn in $(seq 600); do echo line; printf x >> ${turns}; [ -e ${gate} ] && exit 0; sleep 0.1; done`;
  const bridge = await startBridgeProgram(dataDir, { ...shellCommand(script), BRIDGE_IDLE_SECONDS: "3" });
  await dispatchTask(bridge, { taskId: "t1", agentId: "a", message: "x" });
  expect(await until(() => sizeOf(turns) > 5, LIMIT_MS)).toBe(true);
  bridge.signal("SIGSTOP");
  const before = sizeOf(turns);
  expect(await until(() => sizeOf(turns) > before + 45, LIMIT_MS)).toBe(true);
  bridge.signal("SIGCONT");
  // The task also runs for longer than the limit after the pause.
  const after = sizeOf(turns);
  expect(await until(() => sizeOf(turns) > after + 15, LIMIT_MS)).toBe(true);
  writeFileSync(gate, "");
  expect(await taskInState(bridge, "t1", "completed")).toMatchObject({ result: { status: "ok" } });
});

test("a task that completes during a pause of Bridge is completed, although its timeout expires during the pause", async () => {
  const dataDir = await temporaryDirectory();
  const [started, gate, ended] = ["started", "gate", "ended"].map((name) => path.join(dataDir, name)) as [string, string, string];
  const script = `date +%s%3N > ${started}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo done; : > ${ended}`;
  const bridge = await startBridgeProgram(dataDir, shellCommand(script));
  await dispatchTask(bridge, { taskId: "t1", agentId: "a", message: "x", timeoutSeconds: 5 });
  expect(await until(() => sizeOf(started) > 0, LIMIT_MS)).toBe(true);
  bridge.signal("SIGSTOP");
  writeFileSync(gate, "");
  const overAt = Number(readFileSync(started, "utf8")) + 5_000 + 1_500;
  expect(await until(() => existsSync(ended) && Date.now() > overAt, LIMIT_MS)).toBe(true);
  bridge.signal("SIGCONT");
  expect(await taskInState(bridge, "t1", "completed")).toMatchObject({ result: { status: "ok", output: "done\n" } });
});
