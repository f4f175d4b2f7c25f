import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The file that records which test files have passed, and with which inputs. Samples are not recorded. */
const passedFile = path.join(import.meta.dirname, "passed.json");

/**
 * The adapters and the packages that they use, what Bridge gives them and makes of their answers, their versions, the tests, and the pages
 * with their tables. The store, the server and the scheduler are no part of it: their own suites test them with scripted programs.
 */
const inputs = [
  "adapters/**/*",
  "packages/{async-kit,council,nofollow-fs,responder-*}/src/**/*",
  "src/{approvals,contract,pricing,registry,requests,results,workspaces}/**/*",
  "src/dispatch/{end,run}/**/*",
  "src/app/configure-adapter.ts",
  "test/runtimes/**/*.{ts,js,json}",
  "test/conformance/adapter.ts",
  "docs/{runtimes,shell-commands}.md",
  "package-lock.json",
];
/** What only chooses which tests run is no input of theirs. */
const excluded = [
  ...["**/node_modules", "test/runtimes/.results", "test/runtimes/passed.json", "adapters/**/*.md"],
  "test/runtimes/{inputs,run,sample-runner,sample-seed}.ts",
];

const testFiles = "test/runtimes/**/*.test.ts";
/** The tests of the scripted model belong to `npm test`. */
const isOfSuite = (file: string): boolean => !file.startsWith("test/runtimes/model-server/");
/** Whether the results of a test file are a part of the published tables. */
export const isOfTables = (file: string): boolean => file.startsWith("test/runtimes/table/") || file.startsWith("test/runtimes/shell/");

/** What a run of the tests depends on. */
export interface Inputs {
  /** The hash of all that the test files share: every input that is no test file. */
  shared: string;
  /** The hash of each test file by its path. */
  files: Readonly<Record<string, string>>;
}

/** Hashes the names and contents of all inputs. */
export function readInputs(repository: string): Inputs {
  const allTests = new Set(listFiles(repository, testFiles));
  const tests = [...allTests].filter(isOfSuite);
  const shared = hashFiles(
    repository,
    listFiles(repository, inputs).filter((file) => !allTests.has(file)),
  );
  return { shared, files: Object.fromEntries(tests.map((file) => [file, hashFiles(repository, [file])])) };
}

const listFiles = (repository: string, patterns: string | string[]): string[] =>
  globSync(patterns, { cwd: repository, exclude: excluded, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(repository, path.join(entry.parentPath, entry.name)))
    .toSorted();

function hashFiles(repository: string, files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(repository, file)))
      .update("\0");
  return hash.digest("hex");
}

/**
 * Lists the test files that have not passed with these inputs; all of them if something that they share has changed. The published tables
 * are compared as a whole, so if one of their files has to run, all of them have to, unless the results of the others are still there.
 */
export function listUnpassed({ shared, files }: Inputs, passed: Inputs | null, { hasTables }: { hasTables: boolean }): string[] {
  const isUnpassed = (file: string): boolean => passed?.shared !== shared || passed.files[file] !== files[file];
  const needsTables = !hasTables && Object.keys(files).some((file) => isOfTables(file) && isUnpassed(file));
  return Object.keys(files).filter((file) => isUnpassed(file) || (needsTables && isOfTables(file)));
}

/** Records which test files have passed with these inputs. */
export function recordPassed({ shared, files }: Inputs, hasPassed: (file: string) => boolean): void {
  const passedOn = new Date().toISOString().slice(0, 10);
  const passed = Object.fromEntries(Object.entries(files).filter(([file]) => hasPassed(file)));
  writeFileSync(passedFile, `${JSON.stringify({ shared, passedOn, files: passed }, null, 2)}\n`);
}

/** Reads what has passed; null before the first run. */
export function readPassedRun(): Inputs | null {
  try {
    return JSON.parse(readFileSync(passedFile, "utf8")) as Inputs;
  } catch {
    return null;
  }
}
