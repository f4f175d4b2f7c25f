import { mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram } from "../../support/bridge-program.ts";
import { until } from "../../support/until.ts";

beforeAll(async () => {
  // This test neither ends Bridge nor removes its directory.
  const dataDir = mkdtempSync(path.join(tmpdir(), "hanging-"));
  const bridge = await startBridgeProgram(dataDir, shellCommand("setsid -f sleep 4713100; sleep 4713101"), () => {});
  await dispatchTask(bridge, { taskId: "t1", agentId: "a", message: "x" });
  const isRunning = async () => ((await (await bridge.call("GET", "/api/v2/tasks/t1")).json()) as { state: string }).state === "running";
  await until(isRunning, 60_000);
  const report = process.env["HANGING_RUN_REPORT"] ?? "";
  // The test reads the report as soon as the file exists.
  writeFileSync(`${report}.new`, String(process.pid));
  renameSync(`${report}.new`, report);
});

test("hangs", () => new Promise(() => {}), Number(process.env["HANGING_RUN_MS"]));
