import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { hashInputs, readPassedInputs, writePassedInputs } from "./inputs.ts";
import { SAMPLE_SEED } from "./sample-seed.ts";

const usage = `Usage: node test/runtimes/run.ts [--all | arguments of Vitest]

Tests the real agent programs. The whole suite runs if the programs, an adapter or anything else that decides what they do has changed since
it last passed. Otherwise a tenth of it runs, which the commit decides, with at least one test of each file.

  --all   run the whole suite
`;

const repository = path.resolve(import.meta.dirname, "../..");
const results = path.join(import.meta.dirname, ".results");
const args = process.argv.slice(2);
if (args.includes("--help")) process.stdout.write(usage);
else process.exitCode = runNode("test/runtimes/install.ts") || runTests();

function runTests(): number {
  const runsAll = args[0] === "--all";
  if (args.length > 0 && !runsAll) return runVitest(args);
  const inputs = hashInputs(repository);
  rmSync(results, { recursive: true, force: true });
  return runsAll || readPassedInputs() !== inputs ? runAll(inputs) : runSample();
}

function runAll(inputs: string): number {
  process.stdout.write("The whole suite runs.\n");
  const status = runVitest() || runNode("test/runtimes/report.ts");
  if (status === 0) writePassedInputs(inputs);
  return status;
}

function runSample(): number {
  const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: repository, encoding: "utf8" });
  const seed = stdout.trim();
  process.stdout.write(
    `A tenth of the suite runs, which commit ${seed} decides: nothing that decides what the programs do has changed since all of it passed.\n` +
      "To run the whole suite: npm run test:runtimes -- --all\n",
  );
  // `report.ts` compares no tables then.
  mkdirSync(results);
  writeFileSync(path.join(results, "sample"), seed);
  return runVitest([], { [SAMPLE_SEED]: seed });
}

function runVitest(options: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): number {
  return runNode("node_modules/vitest/vitest.mjs", ["run", "--config", "test/runtimes/vitest.config.ts", ...options], environment);
}

function runNode(file: string, options: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): number {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [path.join(repository, file), ...options], { cwd: repository, stdio: "inherit", env }).status ?? 1;
}
