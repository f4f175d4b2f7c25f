import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync } from "node:fs";
import path from "node:path";
import { postgresTests } from "../../harness/vitest-options.ts";

const repository = path.resolve(import.meta.dirname, "../../..");
/** What the tests need besides the source. */
const COPIED = ["test", "examples", "scripts", "vitest.config.ts", "tsconfig.json"];
/** The tests that need PostgreSQL have a separate configuration. */
const POSTGRES_CONFIG = "test/postgres.config.ts";

/** Runs a test file on a copy of the source. Returns the name of the first test that fails; null if all pass. Throws if no test has run. */
export async function runTestFile(root: string, file: string): Promise<string | null> {
  for (const entry of COPIED) cpSync(path.join(repository, entry), path.join(root, entry), { recursive: true });
  const report = path.join(root, "report.json");
  const config = postgresTests.some((pattern) => path.matchesGlob(file, pattern)) ? ["--config", POSTGRES_CONFIG] : [];
  const command = [
    path.join(repository, "node_modules/vitest/vitest.mjs"),
    "run",
    ...config,
    "--reporter=json",
    `--outputFile=${report}`,
    file,
  ];
  await once(spawn(process.execPath, command, { cwd: root, stdio: "ignore" }), "exit");
  const results = (JSON.parse(readFileSync(report, "utf8")) as { testResults: TestFileResult[] }).testResults.flatMap(
    ({ assertionResults }) => assertionResults,
  );
  if (results.length === 0) throw new Error(`No test of ${file} has run.`);
  return results.find(({ status }) => status === "failed")?.fullName ?? null;
}

interface TestFileResult {
  assertionResults: { fullName: string; status: string }[];
}
