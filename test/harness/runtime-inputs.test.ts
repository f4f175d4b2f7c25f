import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { listUnpassed, readInputs } from "../runtimes/inputs.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const tests = ["claude", "table/claude", "table/codex", "shell/codex"].map((name) => `test/runtimes/${name}.test.ts`);
const tables = tests.slice(1).toSorted();

/** Creates a repository with an adapter and tests of real programs. */
async function createRepository() {
  const directory = await temporaryDirectory();
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), text);
  };
  for (const file of ["adapters/claude/cli.ts", "test/runtimes/programs.ts", "test/runtimes/model-server/server.test.ts", ...tests])
    write(file, "1");
  const passed = readInputs(directory);
  const unpassed = (hasTables = true): string[] => listUnpassed(readInputs(directory), passed, { hasTables }).toSorted();
  return { write, unpassed };
}

test("no test of a real program runs again while nothing has changed, and only those that have changed do", async () => {
  const { write, unpassed } = await createRepository();
  expect(unpassed()).toEqual([]);
  write("test/runtimes/model-server/server.test.ts", "2");
  expect(unpassed()).toEqual([]);
  write("test/runtimes/claude.test.ts", "2");
  expect(unpassed(false)).toEqual(["test/runtimes/claude.test.ts"]);
});

test("all tests of real programs run again after a change of what they share", async () => {
  for (const file of ["adapters/claude/cli.ts", "test/runtimes/programs.ts"]) {
    const { write, unpassed } = await createRepository();
    write(file, "2");
    expect(unpassed()).toEqual(tests.toSorted());
  }
});

test("a changed file of the published tables runs with all others of them, unless their results are still there", async () => {
  const { write, unpassed } = await createRepository();
  write("test/runtimes/table/codex.test.ts", "2");
  expect(unpassed(true)).toEqual(["test/runtimes/table/codex.test.ts"]);
  expect(unpassed(false)).toEqual(tables);
});
