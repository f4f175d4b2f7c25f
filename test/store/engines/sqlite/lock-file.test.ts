import fs from "node:fs";
import { link, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { StartError } from "../../../../src/errors.ts";
import { lockFile } from "../../../../src/store/engines/sqlite/lock-file.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const locked = { name: "data directory", setting: "BRIDGE_DATA_DIR" } as const;

test("a lock is held until it is released, and is the same lock for every path to its directory", async () => {
  const directory = await temporaryDirectory();
  const alias = path.join(await temporaryDirectory(), "alias");
  await symlink(directory, alias);
  const release = lockFile(path.join(directory, "lock"), locked);
  expect(() => lockFile(path.join(alias, "lock"), locked)).toThrow(/Another process owns the data directory.*BRIDGE_DATA_DIR/);
  release();
  lockFile(path.join(alias, "lock"), locked)();
});

test.each([
  ["deleted", async () => {}],
  ["replaced, as by a restored backup", (file: string) => writeFile(file, "")],
])("a lock is held although its file was %s", async (_, replace) => {
  const file = path.join(await temporaryDirectory(), "lock");
  const release = lockFile(file, locked);
  await rm(file);
  await replace(file);
  expect(() => lockFile(file, locked)).toThrow(
    new RegExp(`Another process owns the data directory: process ${process.pid} holds .*deleted`),
  );
  release();
  lockFile(file, locked)();
});

test("a lock file that is not writable is rejected, because it cannot be locked exclusively", async () => {
  const file = path.join(await temporaryDirectory(), "lock");
  // Root may write to every file, so the answer of the system is replaced.
  const access = vi.spyOn(fs, "accessSync").mockImplementation(() => {
    throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    access.mockRestore();
    syncBuiltinESMExports();
  });
  expect(() => lockFile(file, locked)).toThrow(/cannot be used \(EACCES.*BRIDGE_DATA_DIR/);
});

test.each([
  ["a link", (file: string) => symlink("elsewhere", file), /must be a regular file/],
  ["a directory", (file: string) => mkdir(file), /must be a regular file/],
  ["not a database", (file: string) => writeFile(file, "something else ".repeat(100)), /cannot be used \(file is not a database\)/],
])("a lock file that is %s is rejected with an error", async (_, plant, words) => {
  const file = path.join(await temporaryDirectory(), "lock");
  await plant(file);
  expect(() => lockFile(file, locked)).toThrow(StartError);
  expect(() => lockFile(file, locked)).toThrow(words);
});

test("a directory in which no lock file can be created is rejected with an error", () => {
  expect(() => lockFile("/proc/self/lock", locked)).toThrow(/\/proc\/self\/lock cannot be used .*BRIDGE_DATA_DIR/);
});

test("a hard link to the lock file of another directory is the same lock", async () => {
  const [one, other] = [await temporaryDirectory(), await temporaryDirectory()];
  const release = lockFile(path.join(one, "lock"), locked);
  await link(path.join(one, "lock"), path.join(other, "lock"));
  expect(() => lockFile(path.join(other, "lock"), locked)).toThrow(/Another process owns/);
  release();
});
