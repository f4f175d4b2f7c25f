import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createArtifactStore } from "@hak2i/responder-bridge";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const unwritable = { name: "ResponderError", code: "artifacts_unwritable" };

test("writes what it is given, lists it, and replaces it as a whole", async () => {
  const directory = path.join(await temporaryDirectory(), "deep/run-1");
  const store = createArtifactStore(directory);
  await store.create();
  expect(await store.write("iterations/iter-01/draft.md", "one")).toBe(path.join(directory, "iterations/iter-01/draft.md"));
  await store.write("meta.json", "{}");
  await store.write("meta.json", '{"ok":true}');
  expect(store.list()).toEqual(["iterations/iter-01/draft.md", "meta.json"]);
  expect(await readFile(path.join(directory, "meta.json"), "utf8")).toBe('{"ok":true}');
  expect((await readdir(directory)).toSorted()).toEqual(["inputs", "iterations", "meta.json"]);
});

test("only the owner can read what is in it", async () => {
  const directory = path.join(await temporaryDirectory(), "run");
  const store = createArtifactStore(directory);
  await store.create();
  const file = await store.write("inputs/materials.txt", "secret");
  expect([(await stat(directory)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
});

test("a directory that is not empty is refused, an empty one is not", async () => {
  const directory = await temporaryDirectory();
  await createArtifactStore(directory).create();
  await expect(createArtifactStore(directory).create()).rejects.toMatchObject({
    ...unwritable,
    message: expect.stringContaining('it holds "inputs" already; name a new one'),
  });
});

test("of several that come at once one gets the directory", async () => {
  const directory = path.join(await temporaryDirectory(), "run");
  const tries = await Promise.allSettled(Array.from({ length: 8 }, () => createArtifactStore(directory).create()));
  expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a file in the place of the directory is told", async () => {
  const file = path.join(await temporaryDirectory(), "file");
  await writeFile(file, "");
  await expect(createArtifactStore(file).create()).rejects.toMatchObject(unwritable);
  await expect(createArtifactStore(path.join(file, "below")).create()).rejects.toMatchObject(unwritable);
});

test.each(["../out", "/etc/out", "a/../../out", "", ".", "a//b", "-rf", ".hidden", "a\\b", "a\nb", "a/", "iterations/.."])(
  "the name %j leads nowhere",
  async (name) => {
    const store = createArtifactStore(path.join(await temporaryDirectory(), "run"));
    await store.create();
    await expect(store.write(name, "text")).rejects.toThrow("is no name of an artifact");
    expect(store.list()).toEqual([]);
  },
);

test("no link that others have put there meanwhile leads out", async () => {
  const parent = await temporaryDirectory();
  const [directory, outside] = [path.join(parent, "run"), path.join(parent, "outside")];
  await mkdir(outside);
  await writeFile(path.join(outside, "kept.md"), "kept");
  const store = createArtifactStore(directory);
  await store.create();

  await symlink(outside, path.join(directory, "iterations"));
  await expect(store.write("iterations/iter-01/draft.md", "text")).rejects.toMatchObject(unwritable);
  await mkdir(path.join(directory, "final"));
  await symlink(path.join(outside, "kept.md"), path.join(directory, "final/final.md"));
  await store.write("final/final.md", "text");

  expect(await readdir(outside)).toEqual(["kept.md"]);
  expect(await readFile(path.join(outside, "kept.md"), "utf8")).toBe("kept");
  expect(await readFile(path.join(directory, "final/final.md"), "utf8")).toBe("text");
});
