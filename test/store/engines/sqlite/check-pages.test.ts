import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { startPageCheck } from "../../../../src/store/engines/sqlite/check-pages.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { until } from "../../../support/until.ts";

function hasArgument(pid: string, argument: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
  } catch {
    return false;
  }
}

const isChecked = (file: string): boolean => readdirSync("/proc").some((name) => /^\d+$/.test(name) && hasArgument(name, file));

test("stopping a check does not wait for SQLite, and leaves no process", async () => {
  // SQLite blocks forever when it opens a pipe, and cannot be interrupted, as in the check of a large file.
  const file = path.join(await temporaryDirectory(), "pipe.db");
  execFileSync("mkfifo", [file]);
  const check = startPageCheck(file);
  expect(await until(() => isChecked(file), 15_000)).toBe(true);
  await check.end();
  expect(await check.fault).toBeNull();
  expect(isChecked(file)).toBe(false);
});

test("a file that cannot be checked is reported as an error and not as damage", async () => {
  const file = path.join(await temporaryDirectory(), "missing.db");
  await expect(startPageCheck(file).fault).rejects.toThrow("unable to open database file");
});
