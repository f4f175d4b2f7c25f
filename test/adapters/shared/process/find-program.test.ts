import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProgram } from "../../../../adapters/shared/process/find-program.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "find-program-"));
  await mkdir(path.join(directory, "first/tool"), { recursive: true });
  await mkdir(path.join(directory, "second"));
  await writeFile(path.join(directory, "first/plain"), "");
  for (const name of ["second/tool", "second/plain"]) {
    await writeFile(path.join(directory, name), "#!/bin/sh\n");
    await chmod(path.join(directory, name), 0o755);
  }
});
afterAll(() => rm(directory, { recursive: true }));

test.each([
  ["a bare name: the first on the PATH that is an executable file", "tool", "second/tool"],
  ["a bare name: a file that is not executable does not count", "plain", "second/plain"],
  ["nothing for a name that does not exist", "no-such-program", null],
])("findProgram finds %s", (_name, program, expected) => {
  const found = findProgram(program, `${directory}/first::${directory}/second`);
  expect(found).toBe(expected === null ? null : path.join(directory, expected));
});

test("findProgram resolves a relative path from the working directory", () => {
  const relative = path.relative(process.cwd(), path.join(directory, "second/tool"));
  expect(findProgram(relative, "")).toBe(path.join(directory, "second/tool"));
  expect(findProgram(path.join(directory, "first/tool"), "")).toBeNull();
  expect(findProgram("", "")).toBeNull();
});
