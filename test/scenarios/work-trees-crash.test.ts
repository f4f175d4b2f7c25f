import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { git } from "../repositories/open-repositories.ts";
import { type BridgeProgram, dispatchTask, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createTreeSettings, listTrees } from "./tree-repository.ts";

const task = { agentId: "agent", provider: "command", profile: "modify", repository: { name: "web" } };

const diffOf = async (bridge: BridgeProgram, taskId: string) =>
  ((await (await bridge.call("GET", `/api/v2/tasks/${taskId}/diff`)).json()) as { diff: string }).diff;

/** A pipe whose reader waits until something writes into it. */
function createPipe(directory: string, name: string): string {
  const file = path.join(directory, name);
  execFileSync("mkfifo", [file]);
  return file;
}

async function kill(bridge: BridgeProgram): Promise<void> {
  bridge.signal("SIGKILL");
  await bridge.exited;
}

/** No work tree and no lock of git is left, and the source knows no other work tree. */
async function expectNothingLeft(dataDir: string): Promise<void> {
  await expect.poll(() => listTrees(dataDir)).toEqual([]);
  const names = readdirSync(path.join(dataDir, "repositories"), { recursive: true }) as string[];
  expect(names.filter((name) => name.endsWith(".lock"))).toEqual([]);
  expect(git(path.join(dataDir, "repositories/web/source.git"), "worktree", "list").split("\n")).toHaveLength(1);
}

test("a kill while a task sets up its tree and while one runs loses no change, and leaves no tree", async () => {
  const dataDir = await temporaryDirectory();
  const [inSetup, waiting, running] = ["setup", "wait", "run"].map((name) => createPipe(dataDir, name)) as [string, string, string];
  const flag = path.join(dataDir, "waits");
  const setup = ["/bin/sh", "-c", `if [ -e ${flag} ]; then echo > ${inSetup}; read -r x < ${waiting}; fi`];
  const { settings } = createTreeSettings(dataDir, { setup });
  const first = await startBridgeProgram(dataDir, settings);
  const wait = `echo > ${running}; read -r x < ${waiting}`;
  await dispatchTask(first, { ...task, taskId: "failing", message: `echo one >> notes.txt; echo new > new.txt; ${wait}` });
  await readFile(running);
  const retried = `if [ -e new.txt ]; then echo again >> new.txt; else echo first > new.txt; ${wait}; fi`;
  await dispatchTask(first, { ...task, taskId: "retried", onInterrupt: "retry", message: retried });
  await readFile(running);
  writeFileSync(flag, "");
  await dispatchTask(first, { ...task, taskId: "setting-up", onInterrupt: "retry", message: "echo two >> notes.txt" });
  await readFile(inSetup);
  await kill(first);
  execFileSync("rm", [flag]);

  const second = await startBridgeProgram(dataDir, settings);
  const failed = await taskInState(second, "failing", "failed");
  expect(failed).toMatchObject({ errorCode: "bridge_restarted", repository: { files: 2, insertions: 2 } });
  expect(await diffOf(second, "failing")).toMatch(/\+new[\s\S]*\+one/);
  expect(await taskInState(second, "retried", "completed")).toMatchObject({ repository: { files: 1 } });
  expect(await diffOf(second, "retried")).toContain("+first\n+again");
  expect(await taskInState(second, "setting-up", "completed")).toMatchObject({ repository: { files: 1 } });
  expect(await diffOf(second, "setting-up")).toContain("+two");
  await expectNothingLeft(dataDir);
});

test.each(["write-tree", "pack-objects", "index-pack", "update-ref"])(
  "a kill at the end of a task, in git %s, loses no change, and leaves no tree",
  async (step) => {
    const dataDir = await temporaryDirectory();
    const { settings } = createTreeSettings(dataDir);
    const bin = path.join(dataDir, "bin");
    mkdirSync(bin);
    const pid = path.join(dataDir, "pid");
    const reached = path.join(dataDir, "reached");
    // A git that kills Bridge when it is called for this step.
    const script = `#!/bin/sh
if [ -e ${pid} ]; then for word in "$@"; do if [ "$word" = ${step} ]; then
  touch ${reached}; kill -9 "$(cat ${pid})"; rm -f ${pid}; fi; done; fi
exec /usr/bin/git "$@"
`;
    writeFileSync(path.join(bin, "git"), script);
    chmodSync(path.join(bin, "git"), 0o755);
    const environment = { ...settings, PATH: `${bin}:/usr/bin:/bin` };
    const first = await startBridgeProgram(dataDir, environment);
    const running = createPipe(dataDir, "run");
    const go = createPipe(dataDir, "go");
    await dispatchTask(first, { ...task, taskId: "cut", message: `echo cut >> notes.txt; echo > ${running}; read -r x < ${go}` });
    await readFile(running);
    writeFileSync(pid, String(first.pid));
    writeFileSync(go, "\n");
    await first.exited;
    expect(existsSync(reached)).toBe(true);

    const second = await startBridgeProgram(dataDir, environment);
    expect(await taskInState(second, "cut", "failed")).toMatchObject({
      errorCode: "bridge_restarted",
      repository: { commits: 1, insertions: 1 },
    });
    expect(await diffOf(second, "cut")).toContain("+cut");
    await expectNothingLeft(dataDir);
    const listed = (await (await second.call("GET", "/api/v2/repositories")).json()) as { data: { branches: unknown[] }[] };
    expect(listed.data[0]?.branches).toMatchObject([{ name: "bridge/cut", taskId: "cut" }]);
    expect(readFileSync(path.join(dataDir, "source/notes.txt"), "utf8")).toBe("first\n");
  },
);
