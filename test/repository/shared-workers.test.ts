import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const directory = path.resolve(import.meta.dirname, "..");
/** Files that Vitest runs before each test file. */
const setupFiles = ["harness/setup.ts", "support/postgres/omit-sqlite-only-tests.ts"];
/** Suites whose files do not share a worker. */
const isolated = /^(browser|runtimes|sandbox)\/|^harness\/hanging-run\//;
const files = globSync(["**/*.ts", "../packages/*/test/**/*.ts"], { cwd: directory }).filter(
  (name) => !name.includes("node_modules") && !isolated.test(name),
);
const read = (name: string): string => readFileSync(path.join(directory, name), "utf8");

test("no helper registers a hook when it is loaded, because a worker loads it once for all test files", () => {
  const helpers = files.filter((name) => !name.endsWith(".test.ts") && !setupFiles.includes(name));
  expect(helpers.filter((name) => /^(before|after)(All|Each)\(/m.test(read(name)))).toEqual([]);
});

test("no test changes the environment of its worker, except with vi.stubEnv", () => {
  const changes = /process\.env(\.\w+|\[[^\]]+\]) (\?\?)?= /;
  expect(files.filter((name) => !name.startsWith("harness/") && changes.test(read(name)))).toEqual([]);
});
