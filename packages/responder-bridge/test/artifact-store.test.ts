import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createArtifactStore } from "@hak2i/responder-bridge";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";

const unwritable = { name: "ResponderError", code: "artifacts_unwritable" };

test("the store writes, lists and replaces files atomically", async () => {
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

test("only the owner can read the artifacts", async () => {
  const directory = path.join(await temporaryDirectory(), "run");
  const store = createArtifactStore(directory);
  await store.create();
  const file = await store.write("inputs/materials.txt", "secret");
  expect([(await stat(directory)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
});

test("the store rejects a directory that is not empty and accepts an empty one", async () => {
  const directory = await temporaryDirectory();
  await createArtifactStore(directory).create();
  await expect(createArtifactStore(directory).create()).rejects.toMatchObject({
    ...unwritable,
    message: expect.stringContaining('it already contains "inputs"; choose a new or an empty directory'),
  });
});

test("only one of several concurrent stores gets the directory", async () => {
  const directory = path.join(await temporaryDirectory(), "run");
  const tries = await Promise.allSettled(Array.from({ length: 8 }, () => createArtifactStore(directory).create()));
  expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a file that has the name of the directory is reported", async () => {
  const file = path.join(await temporaryDirectory(), "file");
  await writeFile(file, "");
  await expect(createArtifactStore(file).create()).rejects.toMatchObject(unwritable);
  await expect(createArtifactStore(path.join(file, "below")).create()).rejects.toMatchObject(unwritable);
});

test.each(["../out", "/etc/out", "a/../../out", "", ".", "a//b", "-rf", ".hidden", "a\\b", "a\nb", "a/", "iterations/.."])(
  "the artifact name %j is rejected",
  async (name) => {
    const store = createArtifactStore(path.join(await temporaryDirectory(), "run"));
    await store.create();
    await expect(store.write(name, "text")).rejects.toThrow("is not a valid artifact name");
    expect(store.list()).toEqual([]);
  },
);

test("no link that another program creates in the meantime is followed", async () => {
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
