import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram } from "../../../test/support/bridge-program.ts";
import { findFreePort } from "../../../test/support/find-free-port.ts";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { accessTo, startCli, startOnTerminal } from "./start-cli.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

test("brg tail and brg wait follow a task across a kill of Bridge", async () => {
  const dataDir = await temporaryDirectory();
  const port = String(await findFreePort());
  const start = () => startBridgeProgram(dataDir, { BRIDGE_PORT: port, ...shellCommand("exec sleep 1000") });
  const killed = await start();
  await dispatchTask(killed, { taskId: "long-1", agentId: "sleeper", message: "Sleep." });
  const env = { BRIDGE_URL: killed.url, BRIDGE_DATA_DIR: dataDir };
  const tail = await startCli(["tail", "long-1"], { env });
  const wait = await startCli(["wait", "long-1"], { env });
  await expect.poll(tail.stdout).toContain("execution.started");
  await expect.poll(wait.stderr).toContain("Waiting for 1 task(s).");
  killed.signal("SIGKILL");
  await killed.exited;
  await expect.poll(tail.stderr).toContain("Lost the connection to");
  await start();
  expect(await tail.exited).toBe(0);
  expect(tail.stderr()).toContain("Reconnected.");
  const lines = tail.stdout().trimEnd().split("\n");
  const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types).toEqual(["execution.started", "execution.failed"]);
  expect(await wait.exited).toBe(1);
  expect(wait.stdout()).toContain("bridge_restarted");
});

test("brg tail --since prints the stored events of all tasks since a time, and is not for a single task", async () => {
  const env = accessTo(bridge);
  await bridge.dispatch({ taskId: "earlier-1", message: "echo" });
  await expect.poll(async () => (await bridge.call("GET", "/api/v2/tasks/earlier-1")).body.state).toBe("completed");
  const stream = await startCli(["tail", "--since", "1h"], { env });
  await expect.poll(stream.stdout).toContain("execution.completed");
  expect(stream.stdout()).toContain('"taskId":"earlier-1"');
  const single = await startCli(["tail", "earlier-1", "--since", "1h"], { env });
  expect([await single.exited, single.stderr()]).toEqual([2, expect.stringContaining("--since cannot be used with a task")]);
  const wrong = await startCli(["tail", "--since", "soon"], { env });
  expect([await wrong.exited, wrong.stderr()]).toEqual([2, expect.stringContaining("--since must be a time")]);
});

test("brg ui opens the link in the browser of a desktop, and only prints it over SSH or with --no-open", async () => {
  const directory = await temporaryDirectory();
  const opened = path.join(directory, "opened");
  const browser = path.join(directory, "browser");
  await writeFile(browser, `#!/bin/sh\nprintf '%s\\n' "$1" >>${opened}\n`, { mode: 0o700 });
  // Without desktop files, `xdg-open` starts $BROWSER.
  const none = { XDG_DATA_HOME: directory, XDG_DATA_DIRS: directory };
  const env = { ...accessTo(bridge), ...none, DISPLAY: ":0", BROWSER: browser };
  for (const [args, more] of [
    [["ui", "--no-open"], {}],
    [["ui"], { SSH_CONNECTION: "192.0.2.1 1 192.0.2.2 22" }],
    [["ui"], {}],
  ] as const) {
    const cli = await startOnTerminal(args, { env: { ...env, ...more } });
    expect(await cli.exited).toBe(0);
    expect(cli.shown()).toMatch(/\/ui\/#/);
  }
  await expect.poll(() => readFile(opened, "utf8").catch(() => "")).toMatch(/^http:\/\/\S+\/ui\/\S+\n$/);
});

test("brg approvals watch asks for a decision on each approval, and prints them in a pipe", async () => {
  const env = accessTo(bridge);
  const ask = (taskId: string) => bridge.dispatch({ taskId, message: "ask", approvals: "ask", profile: "modify" });
  const approvals = async (state: string) => (await bridge.call("GET", `/api/v2/approvals?state=${state}`)).body.data;
  await ask("first-1");
  await expect.poll(() => approvals("pending")).toHaveLength(1);
  const cli = await startOnTerminal(["approvals", "watch"], { env });
  const pipe = await startCli(["approvals", "watch"], { env });
  await cli.waitFor(/of task first-1/);
  await ask("second-1");
  await expect.poll(pipe.stdout).toContain("second-1");
  cli.type("y\n");
  await cli.waitFor(/of task second-1/);
  cli.type("n not now\n");
  await expect.poll(() => approvals("rejected")).toMatchObject([{ taskId: "second-1", reason: "not now" }]);
  expect(await approvals("approved")).toMatchObject([{ taskId: "first-1" }]);
  cli.type("\u0003");
  expect(await cli.exited).toBe(130);
  const printed = pipe.stdout().trimEnd().split("\n");
  expect(printed.map((line) => JSON.parse(line).taskId)).toEqual(["first-1", "second-1"]);
});
