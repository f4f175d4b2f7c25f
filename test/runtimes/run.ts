import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { hashInputs, readPassedInputs, writePassedInputs } from "./inputs.ts";
import { SAMPLE_SEED } from "./sample-seed.ts";

const usage = `Usage: node test/runtimes/run.ts [--all | arguments of Vitest]

Tests the real agent programs. The whole suite runs if one of its inputs (inputs.ts) has changed since it last passed: an adapter, what Bridge
gives it or makes of its answers, a version, or a test. Otherwise a tenth of it runs, which the commit decides, with at least one test of each
file.

  --all   run the whole suite
`;

const repository = path.resolve(import.meta.dirname, "../..");
const results = path.join(import.meta.dirname, ".results");
/** While this file exists, `report.ts` compares no tables. */
const sampleMark = path.join(results, "sample");
const args = process.argv.slice(2);
if (args.includes("--help")) process.stdout.write(usage);
else process.exitCode = runNode("test/runtimes/install.ts") || runTests();

function runTests(): number {
  const runsAll = args[0] === "--all";
  if (args.length > 0 && !runsAll) {
    rmSync(sampleMark, { force: true });
    return runVitest(args);
  }
  const inputs = hashInputs(repository);
  rmSync(results, { recursive: true, force: true });
  const seed = readCommit();
  return runsAll || seed === null || readPassedInputs() !== inputs ? runAll(inputs) : runSample(seed);
}

/** Returns null if git cannot read the repository, for example because it belongs to another user. */
function readCommit(): string | null {
  const { status, stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: repository, encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

function runAll(inputs: string): number {
  process.stdout.write("The whole suite runs.\n");
  const status = runVitest() || runNode("test/runtimes/report.ts");
  // Other programs than the locked ones prove nothing about these.
  if (status === 0 && process.env["BRIDGE_TEST_RUNTIMES_BIN"] === undefined) writePassedInputs(inputs);
  return status;
}

function runSample(seed: string): number {
  process.stdout.write(
    `A tenth of the suite runs, which commit ${seed} decides: no input of the suite (test/runtimes/inputs.ts) has changed since all of it passed.\n` +
      "To run the whole suite: npm run test:runtimes -- --all\n",
  );
  mkdirSync(results);
  writeFileSync(sampleMark, seed);
  return runVitest([], { [SAMPLE_SEED]: seed });
}

function runVitest(options: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): number {
  return runNode("node_modules/vitest/vitest.mjs", ["run", "--config", "test/runtimes/vitest.config.ts", ...options], environment);
}

function runNode(file: string, options: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): number {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [path.join(repository, file), ...options], { cwd: repository, stdio: "inherit", env }).status ?? 1;
}
