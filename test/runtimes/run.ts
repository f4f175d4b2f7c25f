import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { hashInputs, readPassedInputs, writePassedInputs } from "./inputs.ts";
import { SAMPLE_SEED, SAMPLED_DIRECTORY } from "./sample-seed.ts";

const usage = `Usage: node test/runtimes/run.ts [--all | arguments of Vitest]

Tests the real agent programs. The suite runs if one of its inputs (inputs.ts) has changed since all of it last passed: an adapter, what
Bridge gives it or makes of its answers, a version, or a test. Of the table that the programs play again through the model proxy, a tenth runs.
Otherwise a tenth of the suite runs. The commit decides which tenth, with at least one test of each file.

  --all   run the whole suite, and the whole table with the model proxy
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
  if (runsAll || seed === null) return runAll(inputs);
  return readPassedInputs() === inputs ? runSample(seed) : runAllButProxy(seed);
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

/** The proxy table repeats the table of the runtimes, which takes as long again. */
function runAllButProxy(seed: string): number {
  process.stdout.write("An input of the suite has changed. All of it runs, and a tenth of the table with the model proxy.\n");
  return runVitest([], { [SAMPLE_SEED]: seed, [SAMPLED_DIRECTORY]: "/test/runtimes/proxy/" }) || runNode("test/runtimes/report.ts");
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
