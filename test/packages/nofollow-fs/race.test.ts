import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeDirectoryInside, removeInside, writeFileInside } from "@hak2i/nofollow-fs";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startSwapper } from "./start-swapper.ts";

const ROUNDS = 300;

/** A directory that looks like the one that is swapped for it, so that whoever is led there finds what it looks for. */
async function attractive(): Promise<string> {
  const outside = await temporaryDirectory();
  await mkdir(path.join(outside, "inner"));
  await writeFile(path.join(outside, "inner/file"), "kept");
  return outside;
}

async function expectUntouched(outside: string): Promise<void> {
  expect((await readdir(outside, { recursive: true })).toSorted()).toEqual(["inner", "inner/file"]);
  expect(await readFile(path.join(outside, "inner/file"), "utf8")).toBe("kept");
}

/** Runs an operation again and again; counts how often it came to its end. A task that disturbs it may make it fail, and no more. */
async function repeat(operation: () => Promise<unknown>): Promise<number> {
  let succeeded = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    succeeded += await operation().then(
      () => 1,
      () => 0,
    );
  }
  return succeeded;
}

// Elsewhere there is no path that begins at an open directory, and only a check.
describe.runIf(existsSync("/proc/self/fd"))("while a directory and a link change places all the time", () => {
  test("removing a tree never leads out", async () => {
    const [root, outside] = [await temporaryDirectory(), await attractive()];
    await startSwapper(root, outside);
    expect(await repeat(() => removeInside(root, "tree"))).toBeGreaterThan(0);
    await expectUntouched(outside);
  });

  test.each(["refuse", "remove"] as const)("making a directory and writing to it never leads out (%s)", async (obstacles) => {
    const [root, outside] = [await temporaryDirectory(), await attractive()];
    await startSwapper(root, outside);
    const written = await repeat(async () => {
      using directory = await makeDirectoryInside(root, ["tree", "sub", "inner"], { obstacles });
      await writeFileInside(directory, "file", "written", { obstacles });
    });
    expect(written).toBeGreaterThan(0);
    await expectUntouched(outside);
  });
});
