import { chmod, link, mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { hasChanged, markTime } from "../../src/workspaces/has-changed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

describe("hasChanged", () => {
  let root = "";
  let since = 0;
  const at = (name: string): string => path.join(root, name);

  beforeEach(async () => {
    root = await temporaryDirectory();
    await mkdir(at("a/b"), { recursive: true });
    await writeFile(at("a/b/old.txt"), "old");
    await writeFile(at("outside"), "old");
    await link(at("outside"), at("a/linked.txt"));
    since = await markTime(root);
  });

  test("a workspace without a change has not changed", async () => {
    expect(await hasChanged(root, since)).toBe(false);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["a file is written", () => writeFile(at("a/b/old.txt"), "new")],
    ["a file with a second name is written", () => writeFile(at("a/linked.txt"), "new")],
    ["a file is created", () => writeFile(at("a/b/new.txt"), "new")],
    ["a file is deleted", () => rm(at("a/b/old.txt"))],
    ["a file is renamed", () => rename(at("a/b/old.txt"), at("a/b/other.txt"))],
    ["a link is created", () => symlink("/etc", at("a/etc"))],
    ["a directory is created", () => mkdir(at("a/c"))],
    ["the mode of a file changes", () => chmod(at("a/b/old.txt"), 0o700)],
    [
      "a file is written and its times are set back",
      async () => {
        await writeFile(at("a/b/old.txt"), "new");
        await utimes(at("a/b/old.txt"), 1, 1);
      },
    ],
    ["the workspace is removed", () => rm(root, { recursive: true })],
    ["a directory is too deep", () => mkdir(at(Array(70).fill("d").join("/")), { recursive: true })],
  ])("a workspace has changed if %s", async (_, change) => {
    await change();
    expect(await hasChanged(root, since)).toBe(true);
  });
});
