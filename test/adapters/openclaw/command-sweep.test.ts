import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCommandSweep } from "../../../adapters/openclaw/command-sweep.ts";
import { readProcess } from "../../../adapters/shared/process/process-table.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { until } from "../../support/until.ts";
import { messageFor, startFakeGateway } from "./fake-gateway.ts";
import { runOf, startAdapter } from "./task-fixture.ts";

/** Starts a process like one that a command of OpenClaw left in a separate session. */
async function startLeftover(cwd: string, environment: Record<string, string> = { OPENCLAW_SHELL: "exec" }): Promise<ChildProcess> {
  const child = spawn("sh", ["-c", "echo ready; read _"], {
    cwd,
    env: { PATH: "/usr/bin:/bin", ...environment },
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;
async function endOf(child: ChildProcess): Promise<string | null> {
  if (isRunning(child)) await once(child, "exit");
  return child.signalCode;
}

async function prepare(readWorkspaces: () => Promise<string[]> = async () => ["/elsewhere"]) {
  const root = await temporaryDirectory();
  const [workspace, other] = ["workspace", "workspace-2"].map((name) => path.join(root, name)) as [string, string];
  for (const directory of [workspace, other]) mkdirSync(directory);
  const warnings: string[] = [];
  let killed = 0;
  const ignore = () => {};
  const logger = { debug: ignore, info: ignore, error: ignore, warn: (_: object, message: string) => void warnings.push(message) };
  const make = () =>
    createCommandSweep({
      dataDir: path.join(root, "data"),
      logger: logger as never,
      onOrphansKilled: (count) => {
        killed += count;
      },
      readWorkspaces,
    });
  return { workspace, other, warnings, make, sweep: make(), killed: () => killed };
}

test("the sweep ends the processes that a command left in the workspace of its task, and no others", async () => {
  const { workspace, other, sweep, killed } = await prepare();
  const earlier = await startLeftover(workspace);
  const ticks = () => Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 100;
  const startedAt = Number(readProcess(earlier.pid as number)?.startTime);
  expect(await until(() => ticks() > startedAt + 2, 5_000)).toBe(true);

  const end = await sweep.begin(workspace);
  mkdirSync(path.join(workspace, "below"));
  const left = await Promise.all([startLeftover(workspace), startLeftover(path.join(workspace, "below"))]);
  const others = [
    earlier,
    await startLeftover(other),
    await startLeftover(workspace, { OPENCLAW_SHELL: "repl" }),
    await startLeftover(workspace, {}),
  ];
  await end();
  expect(await Promise.all(left.map(endOf))).toEqual(["SIGTERM", "SIGTERM"]);
  expect(others.map(isRunning)).toEqual([true, true, true, true]);
  expect(killed()).toBeGreaterThanOrEqual(2);
});

test("the sweep waits for the last task of a workspace, because commands of its tasks look the same", async () => {
  const { workspace, sweep } = await prepare();
  const first = await sweep.begin(workspace);
  const left = await startLeftover(workspace);
  const second = await sweep.begin(workspace);
  await first();
  expect(isRunning(left)).toBe(true);
  await second();
  expect(await endOf(left)).toBe("SIGTERM");
});

test("the sweep ends the processes that the tasks of a killed Bridge left, once", async () => {
  const { workspace, make, killed } = await prepare();
  await make().begin(workspace);
  const left = await startLeftover(workspace);
  const next = make();
  await next.sweepEarlier();
  expect(await endOf(left)).toBe("SIGTERM");
  expect(killed()).toBe(1);
  const later = await startLeftover(workspace);
  await make().sweepEarlier();
  expect(isRunning(later)).toBe(true);
});

test("the sweep ends nothing in a workspace of an OpenClaw agent, and logs it", async () => {
  const { workspace, sweep, warnings } = await prepare(async () => [path.join(workspace, "agent")]);
  const end = await sweep.begin(workspace);
  const left = await startLeftover(workspace);
  await end();
  expect(isRunning(left)).toBe(true);
  expect(warnings).toEqual([expect.stringContaining("an OpenClaw agent shares the workspace")]);
});

test("the sweep is repeated after a reconnect if the gateway was not connected at the end of the task", async () => {
  let isReconnecting = true;
  const { workspace, sweep, warnings } = await prepare(async () => {
    if (isReconnecting) throw new Error("away");
    return [];
  });
  const end = await sweep.begin(workspace);
  const left = await startLeftover(workspace);
  await end();
  expect(isRunning(left)).toBe(true);
  expect(warnings).toEqual([expect.stringContaining("failed to sweep")]);
  isReconnecting = false;
  await sweep.sweepEarlier();
  expect(await endOf(left)).toBe("SIGTERM");
});

test("a canceled task ends only after its commands have ended", async () => {
  const fake = await startFakeGateway();
  const { adapter, start, root } = await startAdapter(fake);
  const task = start(messageFor({ hang: true }));
  await runOf(fake, task);
  const left = await startLeftover(path.join(root, "workspace"));
  await adapter.cancel(task.request.taskId);
  expect((await task.done).result).toMatchObject({ errorCode: "cancelled" });
  expect(await endOf(left)).toBe("SIGTERM");
});
