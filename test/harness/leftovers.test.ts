import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findProcesses } from "../../adapters/shared/process/find-processes.ts";
import { readProcess } from "../../adapters/shared/process/process-table.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { hasLabel } from "./run-label.ts";
import { commandOf } from "./test-run.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** Starts vitest in a directory with a test that hangs while a Bridge, its agent and a process in a separate session run. */
async function startRun(directory: string, hangMs = 3_600_000) {
  const report = path.join(directory, "report");
  const vitest = path.join(repository, "node_modules/vitest/vitest.mjs");
  const run = spawn(process.execPath, [vitest, "run", "--config", "test/harness/hanging-run/vitest.config.ts"], {
    cwd: repository,
    env: { ...process.env, TMPDIR: directory, HANGING_RUN_REPORT: report, HANGING_RUN_MS: String(hangMs) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void run.kill("SIGKILL"));
  let output = "";
  for (const stream of [run.stdout, run.stderr]) stream.on("data", (chunk) => (output += chunk));
  await expect.poll(() => existsSync(report) || run.exitCode !== null, { timeout: 60_000 }).toBe(true);
  const label = Number(/-(\d+)$/.exec(runsIn(directory)[0] ?? "")?.[1]);
  const processes = () => findProcesses(({ pid }) => hasLabel(pid, label));
  const commands = async () => (await processes()).map(commandOf);
  return { run, worker: Number(readFileSync(report, "utf8")), processes, commands, output: () => output, exited: once(run, "exit") };
}

const runsIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.startsWith("bridge-tests-"))
    .flatMap((name) => readdirSync(path.join(directory, name)));

const works = expect.arrayContaining([
  expect.stringContaining("src/start.js"),
  expect.stringContaining("sleep 4713100"),
  expect.stringContaining("sleep 4713101"),
]);

async function expectNothingLeft(directory: string, commands: () => Promise<string[]>): Promise<void> {
  await expect.poll(commands).toEqual([]);
  await expect.poll(() => runsIn(directory)).toEqual([]);
}

describe("a run of the tests leaves no process and no directory", () => {
  test.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)("when vitest gets %s", async (signal) => {
    const directory = await temporaryDirectory();
    const { run, commands } = await startRun(directory);
    await expect.poll(commands).toEqual(works);
    run.kill(signal);
    await expectNothingLeft(directory, commands);
  });

  test("when a worker is killed, which fails the run", async () => {
    const directory = await temporaryDirectory();
    const { commands, exited, worker } = await startRun(directory);
    process.kill(worker, "SIGKILL");
    expect(await exited).toEqual([1, null]);
    await expectNothingLeft(directory, commands);
  });

  test("when a test times out, and lists the processes that it left behind", async () => {
    const directory = await temporaryDirectory();
    const { commands, exited, output } = await startRun(directory, 1);
    expect(await exited).toEqual([1, null]);
    expect(output()).toMatch(/The tests left processes behind:[\s\S]*src\/start\.js/);
    await expectNothingLeft(directory, commands);
  });

  test("after the start of the next run, when all processes of the run were killed", async () => {
    const directory = await temporaryDirectory();
    const { run, commands, exited, processes } = await startRun(directory);
    await expect.poll(commands).toEqual(works);
    const tools = (await processes()).filter(({ parent }) => parent === run.pid);
    expect(tools.map(({ pid }) => readProcess(pid)?.parent)).toEqual(tools.map(() => run.pid));
    for (const { pid } of tools) process.kill(pid, "SIGSTOP");
    run.kill("SIGKILL");
    for (const { pid } of tools) process.kill(pid, "SIGKILL");
    await exited;
    expect(await commands()).toEqual(works);
    expect(runsIn(directory)).toHaveLength(1);

    const next = await startRun(directory, 1);
    await next.exited;
    await expectNothingLeft(directory, async () => [...(await commands()), ...(await next.commands())]);
  });
});
