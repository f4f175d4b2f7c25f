import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { isAlive } from "../support/is-alive.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const escapes = {
  "ignores SIGHUP": "nohup",
  "in a session of its own": "setsid",
  "in a session of its own, with its parent gone": "setsid --fork",
  "with an empty environment": "env -i setsid",
  "without the marker, with its parent gone": "env -u BRIDGE_TASK_ID setsid --fork",
  "with other directories": "env HOME=/ TMPDIR=/ setsid",
};

const start = Object.values(escapes).map(
  (prefix, index) => `${prefix} sh -c 'echo $$ > "$0.new"; mv "$0.new" "$0"; exec sleep 300' PIDS/${index} > /dev/null 2>&1 &`,
);

/** Starts a Bridge whose tasks leave one process behind for each way to escape, and then run the last command. */
async function startWithEscapes(last: string) {
  const dataDir = await temporaryDirectory();
  const directory = path.join(dataDir, "pids");
  mkdirSync(directory);
  const isComplete = () => readdirSync(directory).filter((name) => !name.endsWith(".new")).length === start.length;
  const ownPid = path.join(dataDir, "agent.pid");
  const script = [
    `echo $$ > ${ownPid}`,
    ...start,
    `while [ "$(ls PIDS | grep -vc new)" -lt ${start.length} ]; do sleep 0.02; done`,
    last,
  ].join("\n");
  const bridge = await startBridgeProgram(dataDir, shellCommand(script.replaceAll("PIDS", directory)));
  const pidOf = (index: number): number => Number(readFileSync(path.join(directory, String(index)), "utf8"));
  const living = () => Object.keys(escapes).filter((_, index) => isAlive(pidOf(index)));
  onTestFinished(() => {
    // Also kill the agent, because tests end by killing Bridge.
    for (const file of [ownPid, ...readdirSync(directory).map((name) => path.join(directory, name))]) {
      const pid = Number(readFileSync(file, "utf8"));
      if (pid > 0 && isAlive(pid)) process.kill(pid, "SIGKILL");
    }
  });
  expect((await dispatchTask(bridge, { taskId: "t1", agentId: "a", message: "x" })).status).toBe(202);
  return { dataDir, bridge, isComplete, living };
}

test("no process outlives a completed task, even if it changed its environment, session and parent", async () => {
  const { bridge, isComplete, living } = await startWithEscapes("echo done");
  await taskInState(bridge, "t1", "completed");
  expect(isComplete()).toBe(true);
  expect(living()).toEqual([]);
});

test("no process outlives a canceled task, even if it changed its environment, session and parent", async () => {
  const { bridge, isComplete, living } = await startWithEscapes("exec sleep 300");
  await expect.poll(isComplete, { timeout: 15_000 }).toBe(true);
  expect(living()).toEqual(Object.keys(escapes));
  await bridge.call("POST", "/api/v2/tasks/t1/cancel");
  await taskInState(bridge, "t1", "cancelled");
  expect(living()).toEqual([]);
});

test("no process outlives kill -9 of Bridge and its next start, and processes of another Bridge continue", async () => {
  const { dataDir, bridge, isComplete, living } = await startWithEscapes("exec sleep 300");
  const other = await startWithEscapes("exec sleep 300");
  await expect.poll(() => isComplete() && other.isComplete(), { timeout: 15_000 }).toBe(true);
  bridge.signal("SIGKILL");
  expect(await bridge.exited).toBe("SIGKILL");
  // `nohup` stays in the process group of the program, which gets SIGTERM when Bridge ends.
  await expect.poll(living).toEqual(Object.keys(escapes).filter((name) => name !== "ignores SIGHUP"));

  const next = await startBridgeProgram(dataDir, shellCommand("echo done"));
  await taskInState(next, "t1", "failed");
  expect(living()).toEqual([]);
  expect(other.living()).toEqual(Object.keys(escapes));
});

test("a Bridge that starts on a copy of a running Bridge's data directory does not kill its processes", async () => {
  const { dataDir, isComplete, living } = await startWithEscapes("exec sleep 300");
  await expect.poll(isComplete, { timeout: 15_000 }).toBe(true);
  const copy = await temporaryDirectory();
  cpSync(dataDir, copy, { recursive: true });
  const second = await startBridgeProgram(copy, shellCommand("echo done"));
  await taskInState(second, "t1", "failed");
  expect(living()).toEqual(Object.keys(escapes));
});

test("without prlimit Bridge logs a warning, and tasks run and are swept by their environment", async () => {
  const dataDir = await temporaryDirectory();
  const file = path.join(dataDir, "pid");
  const script = `export PATH=/usr/bin:/bin; setsid sleep 300 > /dev/null 2>&1 & echo $! > ${file}; echo done`;
  const bridge = await startBridgeProgram(dataDir, { ...shellCommand(script), PATH: await temporaryDirectory() });
  const isWarning = ({ level, msg, reason }: Record<string, unknown>) =>
    level === 40 && /can outlive their task/.test(String(msg)) && /^prlimit is not/.test(String(reason));
  await expect.poll(() => bridge.log.some(isWarning)).toBe(true);
  await dispatchTask(bridge, { taskId: "t1", agentId: "a", message: "x" });
  expect(await taskInState(bridge, "t1", "completed")).toMatchObject({ result: { output: "done\n" } });
  expect(isAlive(Number(readFileSync(file, "utf8")))).toBe(false);
});
