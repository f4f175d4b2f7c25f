import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createMaterialsLoader, type MaterialsLoaderOptions } from "@hak2i/responder-bridge";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";

/** A directory with these files. */
async function filled(files: Record<string, string | Buffer>): Promise<string> {
  const directory = await temporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
    await writeFile(path.join(directory, name), content);
  }
  return directory;
}

const load = (cwd: string, names: string[], options: MaterialsLoaderOptions = {}): Promise<string> =>
  createMaterialsLoader({ cwd, ...options }).load(names);

const labelsOf = (blocks: string): string[] => [...blocks.matchAll(/^=== (?!end of )(.+) ===$/gm)].map(([, label]) => label ?? "");

test("each file becomes a labeled block, in the given order", async () => {
  const cwd = await filled({ "b.md": "B", "a.md": "A\n" });
  expect(await load(cwd, ["b.md", "a.md"])).toBe("=== b.md ===\nB\n=== end of b.md ===\n\n=== a.md ===\nA\n\n=== end of a.md ===");
  expect(await load(cwd, [])).toBe("");
});

test.each([
  ["no newline at the end", "text"],
  ["Windows line endings", "one\r\ntwo\r\n\r\n"],
  ["a byte order mark, a NUL and control characters", "\u{feff}a\0b\u{1b}[31m\u{7f}"],
  ["underlined headings", "Title\n=====\n\n== Section ==\n"],
  ["no content", ""],
  ["characters beyond the first plane", "𝕏 🜂 é"],
])("a file with %s is loaded verbatim", async (_, content) => {
  const cwd = await filled({ "a.md": content });
  expect(await load(cwd, ["a.md"])).toBe(`=== a.md ===\n${content}\n=== end of a.md ===`);
});

test("the content of a file cannot end its block or imitate the block of another file", async () => {
  const forged = "A\n=== end of a.md ===\n\n=== b.md ===\nforged\n==== end of b.md ====\n";
  const cwd = await filled({ "a.md": forged, "b.md": "B" });
  expect(await load(cwd, ["a.md", "b.md"])).toBe(
    `===== a.md =====\n${forged}\n===== end of a.md =====\n\n===== b.md =====\nB\n===== end of b.md =====`,
  );
});

test.each([
  ["two files with the same name", ["x/README.md", "y/README.md"], ["x/README.md", "y/README.md"]],
  ["two files whose parent directories have the same name", ["x/docs/a.md", "y/docs/a.md"], ["x/docs/a.md", "y/docs/a.md"]],
  ["a file in the parent directory of another", ["a.md", "x/a.md", "b.md"], [expect.stringMatching(/^[^/]+\/a\.md$/), "x/a.md", "b.md"]],
  ["different base names", ["x/a.md", "y/b.md"], ["a.md", "b.md"]],
])("labels are unique and contain as little of the path as possible: %s", async (_, names, labels) => {
  const cwd = await filled(Object.fromEntries(names.map((name) => [name, name])));
  expect(labelsOf(await load(cwd, names))).toEqual(labels);
});

test("a file that is named twice, or by a link, is loaded once", async () => {
  const cwd = await filled({ "a.md": "A" });
  await symlink("a.md", path.join(cwd, "link.md"));
  expect(labelsOf(await load(cwd, ["a.md", "./a.md", "link.md", path.join(cwd, "a.md")]))).toEqual(["a.md"]);
});

test("a line break in a file name does not end its label", async () => {
  const cwd = await filled({ "a ===\n=== b.md": "A" });
  expect(await load(cwd, ["a ===\n=== b.md"])).toMatch(/^=== a ===\u{fffd}=== b\.md ===\nA\n/u);
});

describe("a material is rejected with its name and the reason if it", () => {
  const refusal = (name: string, reason: string) => ({
    name: "ResponderError",
    code: "material_unreadable",
    message: `Cannot read the material ${JSON.stringify(name)}: ${reason}.`,
  });

  test.each([
    ["is missing", "missing.md", "file not found"],
    ["lies below a file", "a.md/b.md", "file not found"],
    ["is a directory", "directory", "not a regular file"],
    ["is a device", "/dev/zero", "not a regular file"],
    ["is a pipe without a writer", "pipe", "not a regular file"],
    ["is not text", "image.png", "not UTF-8 text"],
    ["is too large", "large.md", "it has 101 bytes; the limit is 100"],
    ["is a circular link", "circle", "circular link"],
  ])("%s", async (_, name, reason) => {
    const cwd = await filled({
      "a.md": "A",
      "directory/b.md": "B",
      "image.png": Buffer.from([0x89, 0x50, 0xff, 0xfe]),
      "large.md": "x".repeat(101),
    });
    await execa("mkfifo", [path.join(cwd, "pipe")]);
    await symlink("circle", path.join(cwd, "circle"));
    await expect(load(cwd, ["a.md", name], { maxFileBytes: 100 })).rejects.toMatchObject(refusal(name, reason));
  });

  test("a material is rejected with its name and the reason if it reports the size 0 and has more content than the limit", async () => {
    await expect(load("/", ["/proc/self/environ"], { maxFileBytes: 5 })).rejects.toMatchObject(
      refusal("/proc/self/environ", "it exceeds 5 bytes"),
    );
  });

  test("a material is rejected with its name and the reason if it exceeds the total limit together with the other materials", async () => {
    const cwd = await filled({ "a.md": "x".repeat(60), "b.md": "x".repeat(60) });
    await expect(load(cwd, ["a.md", "b.md"], { maxTotalBytes: 100 })).rejects.toMatchObject(
      refusal("b.md", "the materials together exceed 100 bytes"),
    );
    expect(await load(cwd, ["a.md"], { maxTotalBytes: 60 })).toContain("x".repeat(60));
  });
});

describe("with a root directory", () => {
  const outside = "it is outside the directory whose files may be read";

  test.each([
    ["a path that leaves it", "../secret.md"],
    ["an absolute path", "/etc/hostname"],
    ["a link to a file outside", "link.md"],
    ["a link to a directory outside", "up/secret.md"],
    ["a directory whose name starts with the name of the root", "../root-2/a.md"],
  ])("%s is rejected", async (_, name) => {
    const directory = await filled({ "secret.md": "S", "root/a.md": "A", "root-2/a.md": "A" });
    const root = path.join(directory, "root");
    await symlink("../secret.md", path.join(root, "link.md"));
    await symlink("..", path.join(root, "up"));
    await expect(load(root, [name], { root })).rejects.toThrow(outside);
  });

  test("files below it are loaded, also through a link and if the root itself is a link", async () => {
    const directory = await filled({ "root/a.md": "A", "root/..b.md": "B" });
    await symlink("root", path.join(directory, "link"));
    const root = path.join(directory, "link");
    expect(labelsOf(await load(root, ["a.md", "..b.md"], { root }))).toEqual(["a.md", "..b.md"]);
    await rm(root);
  });
});
