import { createHash } from "node:crypto";
import path from "node:path";
import { type RunnerTask, type RunnerTestCase, type RunnerTestFile, TestRunner } from "vitest";
import { SAMPLE_SEED, SAMPLED_FILES } from "./sample-seed.ts";

/** A sample contains one of so many tests. */
const SAMPLED_PART = 10;

/** Runs a part of the tests of each file, and at least one. The others are reported as skipped. */
// biome-ignore lint/style/noDefaultExport: Vitest loads the default export.
export default class SampleRunner extends TestRunner {
  onBeforeRunFiles(files: readonly RunnerTestFile[]): void {
    const seed = process.env[SAMPLE_SEED] ?? "";
    const sampled = JSON.parse(process.env[SAMPLED_FILES] ?? '[""]') as string[];
    for (const file of files)
      if (sampled.some((name) => path.relative(process.cwd(), file.filepath).startsWith(name)))
        skipOthers(file, chooseTests(testsOf(file), seed));
  }
}

/** Returns the tests of a sample. */
function chooseTests(tests: readonly RunnerTestCase[], seed: string): Set<RunnerTask> {
  const ranked = tests.map((test) => ({ test, rank: rankOf(`${seed} ${test.fullName}`) })).toSorted((a, b) => a.rank - b.rank);
  return new Set(ranked.filter(({ rank }, index) => index === 0 || rank % SAMPLED_PART === 0).map(({ test }) => test));
}

const rankOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();

const testsOf = (task: RunnerTask): RunnerTestCase[] =>
  task.type === "test" ? (task.mode === "run" ? [task] : []) : task.tasks.flatMap(testsOf);

/** Skips all tests but the chosen ones, and each suite without one, so that its hooks start no program. */
function skipOthers(task: RunnerTask, chosen: ReadonlySet<RunnerTask>): boolean {
  const isNeeded = task.type === "test" ? chosen.has(task) : task.tasks.map((child) => skipOthers(child, chosen)).includes(true);
  if (!isNeeded && task.mode === "run") task.mode = "skip";
  return isNeeded;
}
