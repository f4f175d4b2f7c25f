import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { removeInside } from "@hak2i/nofollow-fs";
import { expect, onTestFinished, test } from "vitest";
import { createWorkspaces } from "../../../src/workspaces/workspace-directories.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";

const NOBODY = 65_534;

/** Switches to a user who is subject to permissions, because root is not. */
function becomeOrdinary(): void {
  if (process.geteuid?.() !== 0) return;
  process.seteuid?.(NOBODY);
  onTestFinished(() => process.seteuid?.(0));
}

/** Creates a read-only tree, as a package cache does. */
async function lockedCache(directory: string): Promise<void> {
  const inner = path.join(directory, "cache/module");
  await mkdir(inner, { recursive: true });
  await writeFile(path.join(inner, "file"), "", { mode: 0o400 });
  await chmod(inner, 0o500);
  await chmod(path.join(directory, "cache"), 0o000);
}

async function ownDirectory(): Promise<string> {
  const root = await temporaryDirectory();
  if (process.geteuid?.() === 0) await chown(root, NOBODY, NOBODY);
  becomeOrdinary();
  return root;
}

test("a read-only tree is removed, and the targets of its links are not changed", async () => {
  const root = await ownDirectory();
  const outside = path.join(root, "outside");
  await mkdir(outside, { mode: 0o500 });
  const tree = path.join(root, "tree");
  await mkdir(tree);
  await symlink(outside, path.join(tree, "link"));
  await lockedCache(tree);
  await removeInside(root, "tree");
  expect(existsSync(tree)).toBe(false);
  expect((await stat(outside)).mode & 0o777).toBe(0o500);
});

test("the start reports what it cannot remove and removes the rest", async () => {
  const root = await ownDirectory();
  const workspaces = createWorkspaces({ dataDir: root, workspacesDir: path.join(root, "workspaces") });
  expect(await (await workspaces.setAsideLeftovers())()).toEqual([]);
  await lockedCache(path.join(root, "tmp/first"));
  await mkdir(path.join(root, "tmp/second"));
  expect(await (await workspaces.setAsideLeftovers())()).toEqual([]);
  await mkdir(path.join(root, "tmp/third"));
  await chmod(path.join(root, "tmp"), 0o500);
  expect(await (await workspaces.setAsideLeftovers())()).toEqual([expect.objectContaining({ code: "EACCES" })]);
  await chmod(path.join(root, "tmp"), 0o700);
});

/** Creates nested directories whose path exceeds the maximum path length. */
function nest(directory: string, depth: number): void {
  const name = "d".repeat(50);
  const script = `const fs = require("node:fs");
    for (let depth = 0; depth < ${depth}; depth += 1) { fs.mkdirSync("${name}"); fs.mkdirSync("e"); process.chdir("${name}"); }
    fs.writeFileSync("deepest", "");`;
  execFileSync(process.execPath, ["-e", script], { cwd: directory });
}

test("a tree of any depth is removed", async () => {
  const root = await temporaryDirectory();
  await mkdir(path.join(root, "tree"));
  nest(path.join(root, "tree"), 1500);
  await removeInside(root, "tree");
  expect(await readdir(root)).toEqual([]);
});

test("the temporary directory of a task is removed at any depth, at the end of the task and at the next start", async () => {
  const root = await temporaryDirectory();
  const workspaces = createWorkspaces({ dataDir: root, workspacesDir: path.join(root, "workspaces") });
  const task = { createdAt: 1, seq: 1, tenant: "default", taskId: "deep", agentId: "a", parentTaskId: null, provider: "command" };
  const { tmp } = workspaces.prepare(task, undefined);
  for (const remove of [() => workspaces.release(task), async () => expect(await (await workspaces.setAsideLeftovers())()).toEqual([])]) {
    await mkdir(tmp, { recursive: true });
    nest(tmp, 100);
    await remove();
    expect(await readdir(path.join(root, "tmp"))).toEqual([]);
  }
});

test("entries with names that are not UTF-8, pipes and links are removed, and a missing entry is ignored", async () => {
  const [root, outside] = [await temporaryDirectory(), await temporaryDirectory()];
  await writeFile(path.join(outside, "kept"), "");
  const tree = path.join(root, "tree");
  await mkdir(tree);
  await writeFile(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0xfe, 0x41])]), "");
  await mkdir(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xc3, 0x28])]));
  await writeFile(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xc3, 0x28]), Buffer.from("/inner")]), "");
  execFileSync("mkfifo", [path.join(tree, "pipe")]);
  await symlink(outside, path.join(tree, "link"));
  await symlink("nothing", path.join(tree, "dangling"));
  await removeInside(root, "tree");
  await removeInside(root, "tree");
  await symlink(outside, path.join(root, "link"));
  await removeInside(root, "link");
  await writeFile(path.join(root, "file"), "");
  await removeInside(root, "file");
  expect(await readdir(root)).toEqual([]);
  expect(await readdir(outside)).toEqual(["kept"]);
});

test("a large tree is removed in small steps, between which other work runs", async () => {
  const root = await temporaryDirectory();
  for (let index = 0; index < 20; index += 1) await mkdir(path.join(root, `tree/${index}/inner`), { recursive: true });
  for (let index = 0; index < 2000; index += 1) writeFileSync(path.join(root, `tree/${index % 20}/inner/${index}`), "");
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await removeInside(root, "tree");
  isOver = true;
  expect(turns).toBeGreaterThan(2000);
  expect(await readdir(root)).toEqual([]);
});
