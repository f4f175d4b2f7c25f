import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { BrokenRun, FailedTest } from "./failure-list.ts";

/** A run with more unsteady tests fails. */
const MAX_UNSTEADY = 3;

const usage = `Usage: node test/harness/rerun-failures.ts <directory>

Runs the failed tests of a run of .ci/run again, each alone. The directory contains their lists, one file for each suite. A test that
passes now is unsteady: it is printed with both outputs. Exits with 1 if a test fails again, or if more than ${MAX_UNSTEADY} are unsteady.
`;

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else process.exitCode = rerun(directory) ? 0 : 1;

function rerun(directory: string): boolean {
  const failures = readdirSync(directory).flatMap((name) => readFailures(path.join(directory, name)));
  if (failures.length === 0) return true;
  const tests = failures.filter((failure): failure is FailedTest => !("broken" in failure));
  if (tests.length < failures.length || tests.length > MAX_UNSTEADY) {
    for (const failure of failures) process.stdout.write(`${describe(failure)}\n`);
    process.stdout.write(`${failures.length} failures. At most ${MAX_UNSTEADY} tests are run again, and no other failures.\n`);
    return false;
  }
  const again = tests.map((test) => ({ test, ...runAlone(test) }));
  process.stdout.write("\n== unsteady\nEach of these tests failed in the run. It is a defect to mend, also if the test passed alone.\n");
  for (const { test, passed, output } of again)
    process.stdout.write(`\n-- ${describe(test)}\n-- alone: ${passed ? "passed" : "failed again"}\n${output}\n`);
  return again.every(({ passed }) => passed);
}

function readFailures(file: string): (FailedTest | BrokenRun)[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as FailedTest | BrokenRun);
}

function describe(failure: FailedTest | BrokenRun): string {
  return "broken" in failure ? failure.broken : `${failure.file} > ${failure.name}\n${failure.output}`;
}

function runAlone({ config, file, name }: FailedTest): { passed: boolean; output: string } {
  // The published tables of the runtimes, which are not compared after a sample, need the results of all tests of a file.
  const needsFile = config.startsWith("test/runtimes/") && !existsSync(path.resolve(import.meta.dirname, "../runtimes/.results/sample"));
  const selection = needsFile ? [] : ["-t", `^${name.replaceAll(/[^\w\s]/g, "\\$&").replaceAll(" > ", " ")}$`];
  const vitest = path.resolve(import.meta.dirname, "../../node_modules/vitest/vitest.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, "run", "--config", config, file, ...selection], {
    encoding: "utf8",
  });
  const output = `${stdout}${stderr}`;
  return { passed: status === 0 && /Tests\s.*\d+ passed/.test(stripVTControlCharacters(output)), output };
}
