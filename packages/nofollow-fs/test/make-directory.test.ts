import { execFileSync } from "node:child_process";
import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createFileInside, makeDirectoryInside, NotADirectory, writeFileInside } from "@hak2i/nofollow-fs";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";

/** Obstacles that can have the name of a directory. */
const obstacles: readonly [string, (place: string, outside: string) => unknown][] = [
  ["a link to a directory", (place, outside) => symlink(outside, place)],
  ["a link to nothing", (place) => symlink("nothing", place)],
  ["a link to itself", (place) => symlink(path.basename(place), place)],
  ["a file", (place) => writeFile(place, "")],
  ["a pipe", (place) => execFileSync("mkfifo", [place])],
];

describe("a directory", () => {
  test("a directory is created with its parents, and opened if it exists", async () => {
    const root = await temporaryDirectory();
    for (let times = 0; times < 2; times += 1) {
      using directory = await makeDirectoryInside(root, ["one", "two"]);
      await writeFileInside(directory, "file", `time ${times}`);
    }
    expect(await readFile(path.join(root, "one/two/file"), "utf8")).toBe("time 1");
    expect((await stat(path.join(root, "one/two"))).mode & 0o777).toBe(0o700);
  });

  test("a directory may be below a trusted root that is a link", async () => {
    const [root, alias] = [await temporaryDirectory(), path.join(await temporaryDirectory(), "alias")];
    await symlink(root, alias);
    using _ = await makeDirectoryInside(alias, ["one"]);
    expect(await readdir(root)).toEqual(["one"]);
  });

  test.each(obstacles)("a directory is rejected if %s has its name or the name of a parent", async (_, plant) => {
    const [root, outside] = [await temporaryDirectory(), await temporaryDirectory()];
    await plant(path.join(root, "one"), outside);
    for (const names of [["one"], ["one", "two"]])
      await expect(makeDirectoryInside(root, names)).rejects.toThrow(expect.objectContaining({ name: NotADirectory.name, entry: "one" }));
    expect(await readdir(outside)).toEqual([]);
  });

  test.each(obstacles)("a directory replaces %s with obstacles: remove", async (_, plant) => {
    const [root, outside] = [await temporaryDirectory(), await temporaryDirectory()];
    await writeFile(path.join(outside, "kept"), "");
    await plant(path.join(root, "one"), outside);
    using directory = await makeDirectoryInside(root, ["one", "two"], { obstacles: "remove" });
    expect((await lstat(path.join(root, "one"))).isDirectory()).toBe(true);
    expect(await readdir(directory.path)).toEqual([]);
    expect(await readdir(outside)).toEqual(["kept"]);
  });

  test.each(["", ".", "..", "one/two", "/etc", "one\0"])("a directory is never named %j", async (name) => {
    const root = await temporaryDirectory();
    await expect(makeDirectoryInside(root, [name])).rejects.toThrow("is not a file name");
    await expect(writeFileInside(root, name, "")).rejects.toThrow("is not a file name");
    expect(await readdir(root)).toEqual([]);
  });
});

describe("a file", () => {
  test("a file is written for its owner only, and replaces a link, not its target", async () => {
    const [root, outside] = [await temporaryDirectory(), await temporaryDirectory()];
    await writeFile(path.join(outside, "kept"), "kept");
    await symlink(path.join(outside, "kept"), path.join(root, "file"));
    await writeFileInside(root, "file", "new");
    expect(await readFile(path.join(outside, "kept"), "utf8")).toBe("kept");
    expect(await readFile(path.join(root, "file"), "utf8")).toBe("new");
    expect((await lstat(path.join(root, "file"))).mode & 0o777).toBe(0o600);
    expect(await readdir(root)).toEqual(["file"]);
  });

  test("a file is rejected if a directory has its name, or replaces it with obstacles: remove, and leaves no temporary file", async () => {
    const root = await temporaryDirectory();
    await mkdir(path.join(root, "file/deep"), { recursive: true });
    await expect(writeFileInside(root, "file", "new")).rejects.toThrow();
    expect(await readdir(root)).toEqual(["file"]);
    await writeFileInside(root, "file", "new", { obstacles: "remove" });
    expect(await readFile(path.join(root, "file"), "utf8")).toBe("new");
  });

  test("a file is created only if neither a file nor a link has its name", async () => {
    const [root, outside] = [await temporaryDirectory(), await temporaryDirectory()];
    await symlink(path.join(outside, "new"), path.join(root, "file"));
    using directory = await makeDirectoryInside(root, []);
    await expect(createFileInside(directory, "file")).rejects.toThrow("EEXIST");
    expect(await readdir(outside)).toEqual([]);
  });
});
