import { existsSync } from "node:fs";
import { chmod, chown, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { removeInside } from "@hak2i/nofollow-fs";
import { expect, onTestFinished, test } from "vitest";
import { createWorkspaces } from "../../../src/dispatch/workspace.ts";
import { temporaryDirectory } from "../../temporary-directory.ts";

const NOBODY = 65_534;

/** Takes on an identity to which permissions mean something; root may do everything. */
function becomeOrdinary(): void {
  if (process.geteuid?.() !== 0) return;
  process.seteuid?.(NOBODY);
  onTestFinished(() => process.seteuid?.(0));
}

/** A directory as a package cache leaves it: neither it nor what it holds may be changed. */
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

test("a tree that forbids changes is removed, and nothing that its links lead to is touched", async () => {
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

test("what cannot be removed at the start is told, and what can is", async () => {
  const root = await ownDirectory();
  const workspaces = createWorkspaces({ dataDir: root, workspacesDir: path.join(root, "workspaces") });
  expect(await workspaces.sweep()).toEqual([]);
  await lockedCache(path.join(root, "tmp/first"));
  await mkdir(path.join(root, "tmp/second"));
  expect(await workspaces.sweep()).toEqual([]);
  await mkdir(path.join(root, "tmp/third"));
  await chmod(path.join(root, "tmp"), 0o500);
  expect(await workspaces.sweep()).toEqual([expect.objectContaining({ code: "EACCES" })]);
  await chmod(path.join(root, "tmp"), 0o700);
});
