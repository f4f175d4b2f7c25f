import { spawn } from "node:child_process";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ensureBuilt } from "bridge-console";
import type { TestProject } from "vitest/node";
import { sendSignal } from "../../adapters/shared/process/process-table.ts";
import { compileCache } from "./compile-cache.ts";
import { addBrokenRun } from "./failure-list.ts";
import { measureMachine, slowness } from "./machine.ts";
import { beginRun, commandOf, findLeftProcesses, removeDeadRuns, removeDirectories, type TestRun } from "./test-run.ts";

/** Time limit for processes that are ending, on an idle machine, in milliseconds. */
const END_LIMIT_MS = 2_000;
const POLL_MS = 20;

/** Creates the run's directory for temporary files and its reaper, and measures the machine. A run that leaves processes behind fails. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Otherwise the first Bridge that a test starts would build the console, and its test would wait for it.
  if (!ensureBuilt()) throw new Error("The console could not be built; see the error above.");
  await removeDeadRuns();
  const run = beginRun({ wantsMemory: project.getProvidedContext().filesInMemory });
  startReaper(run.name);
  process.env["TMPDIR"] = run.directory;
  process.env["DISK_TMPDIR"] = run.diskDirectory;
  Object.assign(process.env, compileCache);
  await measureMachine();

  return async () => {
    const left = await waitForProcesses(run);
    const names = left.map((one) => `  ${one.pid} ${commandOf(one)}`);
    for (const one of left) sendSignal(one, "SIGKILL");
    await removeDirectories(run.name);
    if (left.length === 0) return;
    const fault = `The tests left processes behind:\n${names.join("\n")}`;
    addBrokenRun(fault);
    throw new Error(fault);
  };
}

/** Starts the reaper in a separate session, so that Ctrl-C does not reach it. It ends when this process ends. */
function startReaper(name: string): void {
  const program = path.join(import.meta.dirname, "reaper.ts");
  const reaper = spawn(process.execPath, [program, name], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  reaper.unref();
  (reaper.stdin as unknown as { unref(): void }).unref();
}

async function waitForProcesses(run: TestRun) {
  const limitMs = END_LIMIT_MS * slowness();
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const left = await findLeftProcesses(run);
    if (left.length === 0 || waitedMs >= limitMs) return left;
    await delay(POLL_MS);
  }
}
