import { mkdir, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { StartError } from "../../../../src/errors.ts";
import { createDataDirectory, locateDatabase } from "../../../../src/store/engines/sqlite/data-paths.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

/** Returns the error that the function throws. */
function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return null;
}

describe("a directory of Bridge", () => {
  test("a directory of Bridge is created with its missing parents, for its owner only, with any umask", async () => {
    const place = path.join(await temporaryDirectory(), "one/two/three");
    const umask = process.umask(0o777);
    try {
      createDataDirectory("BRIDGE_DATA_DIR", place);
    } finally {
      process.umask(umask);
    }
    createDataDirectory("BRIDGE_DATA_DIR", place);
    for (const directory of [place, path.dirname(place)]) expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  test.each([
    ["in /proc", "/proc/bridge", "no directory can be created there"],
    ["deep in /proc", "/proc/self/fd/9999/one/two", "no directory can be created there"],
    ["below a device", "/dev/null/bridge", "a file exists where a directory is needed"],
    ["with a path of 5,000 characters", `/tmp/${"x".repeat(250)}`.repeat(20), "the path is too long"],
    ["with a name of 300 characters", `/tmp/${"x".repeat(300)}`, "the path is too long"],
    ["with NUL", "/tmp/one\0two", "a path must not contain NUL"],
    ["below /sys", "/sys/bridge", ""],
  ])("%s is rejected immediately with an error", (_, place, reason) => {
    const error = thrownBy(() => createDataDirectory("BRIDGE_DATA_DIR", place));
    expect(error).toBeInstanceOf(StartError);
    expect((error as Error).message).toContain("BRIDGE_DATA_DIR cannot be");
    expect((error as Error).message).toContain(reason);
    expect((error as Error).message.length).toBeLessThan(500);
  });

  test("a directory of Bridge is rejected if its path is a file or a broken link", async () => {
    const directory = await temporaryDirectory();
    await writeFile(path.join(directory, "file"), "");
    await symlink("nothing", path.join(directory, "link"));
    for (const place of ["file", "file/below", "link"])
      expect(() => createDataDirectory("BRIDGE_DATA_DIR", path.join(directory, place)), place).toThrow(/a file exists where/);
  });
});

describe("a database", () => {
  test("a database is at the target of its links, whether it exists or not", async () => {
    const directory = await temporaryDirectory();
    await mkdir(path.join(directory, "real"));
    await symlink("real", path.join(directory, "alias"));
    await symlink("alias/second.db", path.join(directory, "first.db"));
    await symlink("../real/third.db", path.join(directory, "real/second.db"));
    const third = path.join(directory, "real/third.db");
    expect(locateDatabase(path.join(directory, "first.db"))).toBe(third);
    await writeFile(third, "");
    expect(locateDatabase(path.join(directory, "first.db"))).toBe(third);
    expect(locateDatabase(path.join(directory, "new/bridge.db"))).toBe(path.join(directory, "new/bridge.db"));
  });

  test("a database whose links form a loop, or lead to no directory, is rejected with an error", async () => {
    const directory = await temporaryDirectory();
    await symlink("circle.db", path.join(directory, "circle.db"));
    await symlink("nowhere/bridge.db", path.join(directory, "bridge.db"));
    expect(() => locateDatabase(path.join(directory, "circle.db"))).toThrow(/BRIDGE_DATABASE_URL cannot be .*the links form a loop/);
    expect(() => locateDatabase(path.join(directory, "bridge.db"))).toThrow(
      /BRIDGE_DATABASE_URL cannot be .*no directory can be created there/,
    );
  });
});
