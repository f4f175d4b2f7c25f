import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeDirectoryInside, removeInside, writeFileInside } from "@hak2i/nofollow-fs";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { startSwapper } from "./start-swapper.ts";

const ROUNDS = 300;

/** Creates a directory with the same structure as the one that is replaced, so that a wrong operation succeeds there. */
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

/** Repeats an operation and counts its successes. The interfering program may only make it fail. */
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

// On other systems a path cannot start at an open directory, so a race is possible.
describe.runIf(existsSync("/proc/self/fd"))("while a directory and a link change places all the time", () => {
  test("removing a tree never removes a file outside", async () => {
    const [root, outside] = [await temporaryDirectory(), await attractive()];
    await startSwapper(root, outside);
    expect(await repeat(() => removeInside(root, "tree"))).toBeGreaterThan(0);
    await expectUntouched(outside);
  });

  test.each(["refuse", "remove"] as const)(
    "creating a directory and writing to it never changes a file outside (%s)",
    async (obstacles) => {
      const [root, outside] = [await temporaryDirectory(), await attractive()];
      await startSwapper(root, outside);
      const written = await repeat(async () => {
        using directory = await makeDirectoryInside(root, ["tree", "sub", "inner"], { obstacles });
        await writeFileInside(directory, "file", "written", { obstacles });
      });
      expect(written).toBeGreaterThan(0);
      await expectUntouched(outside);
    },
  );
});
