import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createArtifactStore, createMaterialsLoader } from "@hak2i/responder-bridge";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { startSwapper } from "../../nofollow-fs/test/start-swapper.ts";

const ROUNDS = 200;

async function attractive(): Promise<string> {
  const outside = await temporaryDirectory();
  await mkdir(path.join(outside, "inner"));
  await writeFile(path.join(outside, "inner/file"), "secret");
  return outside;
}

test("a store below a root is created name by name and rejects a link in its path", async () => {
  const [root, outside] = [await temporaryDirectory(), await temporaryDirectory()];
  const store = createArtifactStore("outputs/run", { root });
  await store.create();
  expect(await store.write("final/final.md", "text")).toBe(path.join(root, "outputs/run/final/final.md"));
  expect(await readFile(path.join(root, "outputs/run/final/final.md"), "utf8")).toBe("text");
  await symlink(outside, path.join(root, "linked"));
  await expect(createArtifactStore("linked/run", { root }).create()).rejects.toMatchObject({ code: "artifacts_unwritable" });
  expect(await readdir(outside)).toEqual([]);
});

// On other systems a path cannot start at an open directory, so a race is possible.
describe.runIf(existsSync("/proc/self/fd"))("while a directory of the root and a link change places all the time", () => {
  test("no artifact is written outside", async () => {
    const [root, outside] = [await temporaryDirectory(), await attractive()];
    await startSwapper(root, outside);
    for (let round = 0; round < ROUNDS; round += 1) {
      const store = createArtifactStore(`tree/sub/${round}`, { root });
      await store
        .create()
        .then(() => store.write("inner/file", "text"))
        .catch(() => {});
    }
    expect((await readdir(outside, { recursive: true })).toSorted()).toEqual(["inner", "inner/file"]);
    expect(await readFile(path.join(outside, "inner/file"), "utf8")).toBe("secret");
  });

  test("no material is read from outside", async () => {
    const [root, outside] = [await temporaryDirectory(), await attractive()];
    await startSwapper(root, outside);
    const materials = createMaterialsLoader({ cwd: root, root });
    const seen = new Set<boolean>();
    for (let round = 0; round < ROUNDS * 5; round += 1) {
      const text = await materials.load(["tree/sub/inner/file"]).catch(() => null);
      seen.add(text?.includes("secret") === true);
    }
    expect(seen).toEqual(new Set([false]));
  });
});
