import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { FAILURES_VARIABLE } from "./failure-list.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** Runs tests that fail this often as `.ci/run` does, and then runs those that failed again. */
async function runAndRerun(failures: readonly number[]) {
  const directory = await temporaryDirectory();
  const lists = path.join(directory, "lists");
  await mkdir(lists);
  const list = path.join(lists, "suite.jsonl");
  const environment = { FAILING_RUN_DIRECTORY: directory, FAILING_RUN_FAILURES: JSON.stringify(failures) };
  const options = { cwd: repository, reject: false, all: true } as const;
  const vitest = path.join(repository, "node_modules/vitest/vitest.mjs");
  const run = await execa(process.execPath, [vitest, "run", "--config", "test/harness/failing-run/vitest.config.ts"], {
    ...options,
    env: { ...environment, [FAILURES_VARIABLE]: list },
  });
  const rerun = await execa(process.execPath, ["test/harness/rerun-failures.ts", lists], { ...options, env: environment });
  const runsOf = async (index: number) => (await readFile(path.join(directory, `runs-${index}`), "utf8")).length;
  return { run, rerun, runsOf };
}

test("tests that pass alone after they failed are printed as unsteady with both outputs, and do not fail the run", async () => {
  const { run, rerun, runsOf } = await runAndRerun([1, 0, 1]);
  expect([run.exitCode, rerun.exitCode]).toEqual([1, 0]);
  expect(rerun.all).toContain("== unsteady");
  expect(rerun.all).toContain("a group (of tests) > test 0 fails [1] times");
  expect(rerun.all).toContain("expected 'run 0' to be 'another run'");
  expect(rerun.all).toContain("alone: passed");
  // The test that passed is not run again.
  expect(await Promise.all([0, 1, 2].map(runsOf))).toEqual([2, 1, 2]);
});

test("a test that fails again fails the run", async () => {
  const { rerun } = await runAndRerun([2]);
  expect(rerun.exitCode).toBe(1);
  expect(rerun.all).toContain("alone: failed again");
});

test("more than three failed tests fail the run, and are not run again", async () => {
  const { rerun, runsOf } = await runAndRerun([1, 1, 1, 1]);
  expect(rerun.exitCode).toBe(1);
  expect(rerun.all).toContain("4 failures");
  expect(await runsOf(0)).toBe(1);
});
