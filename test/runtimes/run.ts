import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PASSED_VARIABLE } from "../harness/passed-list.ts";
import { type Inputs, isOfTables, listUnpassed, readInputs, readPassedRun, recordPassed } from "./inputs.ts";
import { SAMPLE_SEED, SAMPLED_FILES } from "./sample-seed.ts";

const usage = `Usage: node test/runtimes/run.ts [--all | arguments of Vitest]

Tests the real agent programs. If one of the inputs (inputs.ts) has changed since the suite last passed, the suite runs without most of the
model-proxy table: a tenth of it runs. Inputs are the adapters, what Bridge gives them or makes of their answers, the versions and the tests.
If only test files have changed or failed, only they run.
If all have passed with the same inputs, a tenth of everything runs. The commit chooses which tenth, with at least one test of each file.

  --all   run everything
`;

const repository = path.resolve(import.meta.dirname, "../..");
const results = path.join(import.meta.dirname, ".results");
/** While this file exists, `report.ts` compares no tables. */
const sampleMark = path.join(results, "sample");
const PROXY_TABLE = "test/runtimes/proxy/";
const args = process.argv.slice(2);
if (args.includes("--help")) process.stdout.write(usage);
else process.exitCode = runNode("test/runtimes/install.ts") || runTests();

function runTests(): number {
  const runsAll = args[0] === "--all";
  if (args.length > 0 && !runsAll) {
    rmSync(sampleMark, { force: true });
    return runVitest(args);
  }
  const inputs = readInputs(repository);
  const unpassed = listUnpassed(inputs, readPassedRun(), { hasTables: existsSync(results) && !existsSync(sampleMark) });
  const tables = Object.keys(inputs.files).filter(isOfTables);
  const repeated = tables.filter((file) => unpassed.includes(file));
  const seed = readCommit();
  // If a part of the tables runs, it is compared together with the results of the others.
  const runsPart = !runsAll && seed !== null && repeated.length > 0 && repeated.length < tables.length;
  if (!runsPart) rmSync(results, { recursive: true, force: true });
  if (runsAll || seed === null) return runAll(inputs);
  return unpassed.length === 0 ? runSample(seed) : runUnpassed(inputs, unpassed, seed);
}

/** Returns null if git cannot read the repository, for example because it belongs to another user. */
function readCommit(): string | null {
  const { status, stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: repository, encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

function runAll(inputs: Inputs): number {
  process.stdout.write("The whole suite runs.\n");
  return runAndRecord(inputs, Object.keys(inputs.files), {});
}

/** The proxy table repeats the table of the runtimes, which takes as long again. */
function runUnpassed(inputs: Inputs, unpassed: readonly string[], seed: string): number {
  const isPart = unpassed.length < Object.keys(inputs.files).length;
  if (!unpassed.some(isOfTables)) markAsSample(seed);
  process.stdout.write(
    isPart
      ? `These files have not passed with these inputs, and run:\n${unpassed.map((file) => `  ${file}\n`).join("")}`
      : "An input has changed: the suite runs, with a tenth of the model-proxy table.\n",
  );
  return runAndRecord(inputs, unpassed, { [SAMPLE_SEED]: seed, [SAMPLED_FILES]: JSON.stringify([PROXY_TABLE]) });
}

/** Runs files, compares the tables if all of their files have passed, and records what has passed with the locked programs. */
function runAndRecord(inputs: Inputs, files: readonly string[], environment: NodeJS.ProcessEnv): number {
  const directory = mkdtempSync(path.join(tmpdir(), "passed-"));
  const list = path.join(directory, "files");
  const status = runVitest(files, { ...environment, [PASSED_VARIABLE]: list });
  const listed = new Set(existsSync(list) ? readFileSync(list, "utf8").trim().split("\n") : []);
  rmSync(directory, { recursive: true });
  const hasPassed = (file: string): boolean => listed.has(file) || !files.includes(file);
  const canCompare = Object.keys(inputs.files).every((file) => !isOfTables(file) || hasPassed(file));
  const compared = canCompare ? runNode("test/runtimes/report.ts") : 0;
  if (usesLockedPrograms()) recordPassed(inputs, (file) => hasPassed(file) && (compared === 0 || !isOfTables(file)));
  return status || compared;
}

function usesLockedPrograms(): boolean {
  return process.env["BRIDGE_TEST_RUNTIMES_BIN"] === undefined;
}

function runSample(seed: string): number {
  process.stdout.write(
    `No input has changed: a tenth of the suite runs, chosen by commit ${seed}.\nTo run everything: npm run test:runtimes -- --all\n`,
  );
  markAsSample(seed);
  return runVitest([], { [SAMPLE_SEED]: seed });
}

function markAsSample(seed: string): void {
  mkdirSync(results);
  writeFileSync(sampleMark, seed);
}

function runVitest(options: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): number {
  return runNode("node_modules/vitest/vitest.mjs", ["run", "--config", "test/runtimes/vitest.config.ts", ...options], environment);
}

function runNode(file: string, options: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): number {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [path.join(repository, file), ...options], { cwd: repository, stdio: "inherit", env }).status ?? 1;
}
