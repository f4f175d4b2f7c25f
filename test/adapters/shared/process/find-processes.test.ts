import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { findProcesses } from "../../../../adapters/shared/process/find-processes.ts";

async function startProcess(env: Record<string, string> = {}): Promise<number> {
  const child = spawn("sleep", ["600"], { stdio: "ignore", env: { ...process.env, ...env } });
  await once(child, "spawn");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return child.pid as number;
}

describe("findProcesses", () => {
  test("findProcesses searches of one turn read the process table once, and each returns its own matches", async () => {
    const pids = [await startProcess(), await startProcess()];
    const candidates: object[][] = [[], []];
    const searches = pids.map((wanted, index) =>
      findProcesses((candidate) => {
        candidates[index]?.push(candidate);
        return candidate.pid === wanted;
      }),
    );
    const found = await Promise.all(searches);
    expect(found.map((processes) => processes.map(({ pid }) => pid))).toEqual(pids.map((pid) => [pid]));
    expect(candidates[0]?.length).toBeGreaterThan(1);
    const [first, second] = candidates as [object[], object[]];
    expect(first.every((candidate, index) => candidate === second[index])).toBe(true);
  });

  test("a search that begins during a pass finds a process that started during the pass", async () => {
    let started: Promise<number> | undefined;
    let later: Promise<number[]> | undefined;
    await findProcesses(() => {
      started ??= startProcess();
      later ??= started.then(async (wanted) => (await findProcesses(({ pid }) => pid === wanted)).map(({ pid }) => pid));
      return false;
    });
    expect(await later).toEqual([await started]);
  });

  test("a filter that throws fails only its own search", async () => {
    const wanted = await startProcess({ BRIDGE_TASK_ID: "task-1", TMPDIR: "/tmp/of-task-1" });
    const failing = findProcesses(() => {
      throw new Error("the filter failed");
    });
    const working = findProcesses(({ marks }) => marks?.marker === "task-1" && marks.tmp === "/tmp/of-task-1");
    await expect(failing).rejects.toThrow("the filter failed");
    expect((await working).map(({ pid }) => pid)).toEqual([wanted]);
  });
});
