import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { scaled } from "../harness/machine.ts";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("a task that is retried after kill -9 gets its original files, and can be deleted", { timeout: scaled(180_000) }, async () => {
  const dataDir = await temporaryDirectory();
  const flag = path.join(dataDir, "was-killed");
  // The first run overwrites the file and hangs. The second run prints the file.
  const script = `cat in/a.txt; [ -e '${flag}' ] && exit 0; echo spoiled > in/a.txt; touch '${flag}'; sleep 300`;
  const first = await startBridgeProgram(dataDir, shellCommand(script));
  const body = { taskId: "t", agentId: "a", message: "x", onInterrupt: "retry", files: [{ path: "in/a.txt", content: "as it came" }] };
  expect((await dispatchTask(first, body)).status).toBe(202);
  await expect.poll(() => existsSync(flag), { timeout: 15_000 }).toBe(true);
  first.signal("SIGKILL");
  await first.exited;

  const second = await startBridgeProgram(dataDir, shellCommand(script));
  expect(await taskInState(second, "t", "completed")).toMatchObject({ result: { output: "as it came" } });
  expect((await second.call("DELETE", "/api/v2/tasks/t")).status).toBe(204);
  second.signal("SIGKILL");
  await second.exited;

  const third = await startBridgeProgram(dataDir, shellCommand(script));
  expect((await third.call("GET", "/api/v2/tasks/t")).status).toBe(404);
  expect(await (await third.call("GET", "/api/v2/tasks")).json()).toMatchObject({ data: [] });
  expect((await dispatchTask(third, body)).headers.has("idempotent-replayed")).toBe(false);
  expect(await taskInState(third, "t", "completed")).toMatchObject({ result: { output: "as it came" } });
  // The retry starts three programs.
});
