import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { record } from "./record.ts";
import { accessTo, runCli, runCommand } from "./start-cli.ts";

// The agent runs its message as a shell script in its work tree.
const agent = `const { message } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  require("node:child_process").execFileSync("/bin/sh", ["-c", message], { stdio: "inherit" });`;
const person = {
  ...{ GIT_AUTHOR_NAME: "me", GIT_AUTHOR_EMAIL: "me@localhost", GIT_COMMITTER_NAME: "me", GIT_COMMITTER_EMAIL: "me@localhost" },
  GIT_CONFIG_NOSYSTEM: "1",
};
let bridge: Bridge;
let root: string;
let source: string;
const git = async (cwd: string, ...args: string[]): Promise<string> => (await execa("git", args, { cwd, env: person })).stdout;

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  source = path.join(root, "source");
  await git(root, "init", "-q", "-b", "main", source);
  await writeFile(path.join(source, "a.txt"), "one\ntwo\n");
  await git(source, "add", "-A");
  await git(source, "commit", "-qm", "first");
  const file = path.join(root, "repositories.json");
  await writeFile(file, JSON.stringify([{ name: "web", source, defaultRef: "main" }]));
  bridge = await startBridge(
    {
      ...{ BRIDGE_WORKSPACES_DIR: path.join(root, "workspaces"), BRIDGE_REPOSITORIES_FILE: file },
      BRIDGE_COMMAND: JSON.stringify([process.execPath, "-e", agent]),
    },
    { adapters: [{ provider: "command", adapter: createCommandAdapter() }] },
  );
});
afterAll(async () => {
  await bridge.close();
  await rm(root, { recursive: true });
});

/** The options of a task in a work tree. */
const inTree = (id: string): string[] => ["-p", "command", "-a", "fixer", "--profile", "modify", "--id", id, "--repo", "web"];
/** Dispatches a script as a task in a work tree. */
const dispatch = (id: string, script: string, ...options: string[]) =>
  runCommand(["dispatch", ...inTree(id), ...options, script], { env: accessTo(bridge) });
/** Creates a clone of the source. */
async function clone(): Promise<string> {
  const directory = await mkdtemp(path.join(root, "bridge-test-"));
  await git(root, "clone", "-q", source, directory);
  return directory;
}

test("the changes of a task in a work tree are dispatched, shown and applied as recorded", async () => {
  const script = "echo three >> a.txt; git commit -qam 'Add three'; echo new > b.txt";
  expect(await dispatch("tree-1", script)).toMatchObject({ exitCode: 0 });
  const env = { ...accessTo(bridge), ...person, NO_COLOR: "1" };
  const clones = { terminal: await clone(), pipe: await clone() };
  const commands = {
    dispatch: ["dispatch", ...inTree("tree-1"), script],
    task: ["task", "tree-1"],
    repositories: ["repositories"],
    branches: ["repositories", "web"],
    apply: ["apply", "tree-1"],
  };
  for (const [name, args] of Object.entries(commands))
    await expect(await record(args, (run) => ({ env, cwd: clones[run] }))).toMatchFileSnapshot(
      path.join(import.meta.dirname, "golden", `work-tree-${name}.txt`),
    );
  for (const directory of Object.values(clones)) {
    expect(await git(directory, "log", "--format=%an %s")).toBe("Bridge Uncommitted changes of task tree-1\nfixer Add three\nme first");
    expect(await readFile(path.join(directory, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  }
});

test("the options of a dispatch choose the start, the branch and what remains, and errors name them", async () => {
  expect(await dispatch("kept-1", "echo x > c.txt", "--branch", "bridge/own", "--keep", "diff")).toMatchObject({ exitCode: 0 });
  expect((await bridge.call("GET", "/api/v2/tasks/kept-1")).body.repository).toMatchObject({ branch: "bridge/own", commits: 1 });
  const nothing = await dispatch("kept-2", "echo x > c.txt", "--keep", "none");
  expect(nothing.stderr).toContain("bridge/kept-2: 1 commit(s), 1 file(s), +1 -0. Nothing is kept.");
  expect(await runCli(["apply", "kept-2"], { cwd: await clone(), env: { ...accessTo(bridge), ...person } })).toMatchObject({ exitCode: 5 });

  expect(await dispatch("bad-1", "true", "--branch", "a..b")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--branch (repository.branch)"),
  });
  const unknown = ["dispatch", "-p", "command", "-a", "fixer", "--repo", "wep@main", "true"];
  expect(await runCommand(unknown, { env: accessTo(bridge) })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("web") });
  const alone = ["dispatch", "-a", "fixer", "--push", "true"];
  expect(await runCommand(alone, { env: accessTo(bridge) })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--repo") });
});

test("brg rerun starts a new branch, and brg apply --3way merges the changes without their commits", async () => {
  await dispatch("again-1", "echo again >> a.txt");
  expect(await runCommand(["rerun", "again-1", "--id", "again-2"], { env: accessTo(bridge) })).toMatchObject({ exitCode: 0 });
  expect((await bridge.call("GET", "/api/v2/tasks/again-2")).body.repository).toMatchObject({ branch: "bridge/again-2", commits: 1 });
  const directory = await clone();
  expect(await runCli(["apply", "again-2", "--3way"], { cwd: directory, env: { ...accessTo(bridge), ...person } })).toMatchObject({
    exitCode: 0,
  });
  expect([await git(directory, "rev-list", "--count", "HEAD"), await git(directory, "diff", "--cached", "--name-only")]).toEqual([
    "1",
    "a.txt",
  ]);
});

test("tasks of one agent that change the same file at once both keep their changes", async () => {
  const meet = (own: string, other: string) => `touch ${root}/${own}; while [ ! -e ${root}/${other} ]; do sleep 0.05; done`;
  const outcomes = await Promise.all([
    dispatch("left", `sed -i s/one/LEFT/ a.txt; ${meet("left", "right")}`),
    dispatch("right", `sed -i s/two/RIGHT/ a.txt; ${meet("right", "left")}`),
  ]);
  expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  const diffs = await Promise.all(["left", "right"].map((id) => runCommand(["diff", id], { env: accessTo(bridge) })));
  expect(diffs.map(({ stdout }) => stdout.match(/^[+-]\w.*$/gm))).toEqual([
    ["-one", "+LEFT"],
    ["-two", "+RIGHT"],
  ]);
});
