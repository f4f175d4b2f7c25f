import { chmod, link, mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type HeldDirectory, holdDirectory } from "@hak2i/nofollow-fs";
import { expect, test } from "vitest";
import { type FoundFile, type WalkOptions, walkFiles } from "../../src/workspaces/walk-files.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const names = ["B", "a-", "a.txt", "a/1", "a/2/x", "a/2/y", "a/10", "b/c/d/e", "node_modules/left-pad/index.js", "node_modules.md", "ü"];
/** Sorted by directory, each in the order of code units. */
const inOrder = ["B", "a/1", "a/10", "a/2/x", "a/2/y", "a-", "a.txt", "b/c/d/e", "node_modules.md", "ü"];

async function plant(files: readonly string[]): Promise<string> {
  const root = await temporaryDirectory();
  for (const name of files) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), name);
  }
  return root;
}

/** Returns all pages of a walk. */
async function walkAll(root: string, options: Partial<WalkOptions> = {}) {
  const held = holdDirectory(root) as HeldDirectory;
  const files: FoundFile[] = [];
  let after: string | null = null;
  let truncated = false;
  let stretches = 0;
  do {
    const walked = await walkFiles(held, { limit: 1000, skip: new Set(["node_modules"]), isWanted: () => true, ...options, after });
    files.push(...walked.files);
    truncated ||= walked.truncated;
    after = walked.next;
    stretches += 1;
  } while (after !== null);
  held.close();
  return { paths: files.map((file) => file.path), truncated, stretches };
}

test("a walk lists every file once, in order, without skipped directories", async () => {
  expect(await walkAll(await plant(names))).toEqual({ paths: inOrder, truncated: false, stretches: 1 });
});

test.each([1, 2, 3, 9])("a walk continues after a page of %i files", async (limit) => {
  const { paths, stretches } = await walkAll(await plant(names), { limit });
  expect(paths).toEqual(inOrder);
  expect(stretches).toBe(Math.ceil(inOrder.length / limit));
});

test.each([
  ["entries", { entries: 1 }],
  ["time", { ms: 0 }],
])("a walk reaches its end in pages with a low limit of %s", async (_, limits) => {
  const root = await plant(names);
  for (const empty of ["e/m/p/t/y", "z"]) await mkdir(path.join(root, empty), { recursive: true });
  const { paths, stretches, truncated } = await walkAll(root, { limits });
  expect([paths, truncated]).toEqual([inOrder, false]);
  expect(stretches).toBeGreaterThan(inOrder.length);
});

test("a walk continues when the entry at its position is deleted or replaced", async () => {
  const root = await plant(names);
  const held = holdDirectory(root) as HeldDirectory;
  const from = async (after: string) =>
    (await walkFiles(held, { after, limit: 100, skip: new Set(), isWanted: () => true })).files.map((file) => file.path).slice(0, 2);
  expect(await from("a/11")).toEqual(["a/2/x", "a/2/y"]);
  expect(await from("a/2/x/deeper")).toEqual(["a/2/x", "a/2/y"]);
  expect(await from("a/")).toEqual(["a/1", "a/10"]);
  expect(await from("a")).toEqual(["a-", "a.txt"]);
  expect(await from("../..")).toEqual(["B", "a/1"]);
  held.close();
});

test("links and files with several hard links are neither followed nor listed", async () => {
  const outside = await plant(["secret"]);
  const root = await plant(["kept", "dir/kept"]);
  await symlink(outside, path.join(root, "link-out"));
  await symlink(path.join(outside, "secret"), path.join(root, "secret"));
  await symlink(root, path.join(root, "dir/round"));
  await link(path.join(outside, "secret"), path.join(root, "hard"));
  expect(await walkAll(root)).toEqual({ paths: ["dir/kept", "kept"], truncated: false, stretches: 1 });
});

test.each([
  ["an enormous directory", { directoryEntries: 2 }, (root: string) => writeFile(path.join(root, "c"), "")],
  ["a directory too deep", { depth: 2 }, (root: string) => mkdir(path.join(root, "x/y/z"), { recursive: true })],
  ["a path too long", { pathBytes: 3 }, (root: string) => writeFile(path.join(root, "long"), "")],
  ["a name that is no UTF-8", {}, (root: string) => writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff)]), "")],
])("a walk reports %s", async (_, limits, add) => {
  const root = await plant(["a", "b"]);
  expect((await walkAll(root, { limits })).truncated).toBe(false);
  await add(root);
  const { paths, truncated } = await walkAll(root, { limits });
  expect([paths.length, truncated]).toEqual([2, true]);
});

test("a walk reports an unreadable directory", async () => {
  const root = await plant(["a", "closed/b"]);
  await chmod(root, 0o755);
  await chmod(path.join(root, "closed"), 0);
  // Root may read all directories, so another user runs the walk.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  const walked = await walkAll(root).finally(() => {
    if (isRoot) process.seteuid?.(0);
  });
  await chmod(path.join(root, "closed"), 0o700);
  expect(walked).toMatchObject({ paths: ["a"], truncated: true });
});
