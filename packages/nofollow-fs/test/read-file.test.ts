import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { readFileInside } from "@hak2i/nofollow-fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";

async function makeWorkspace() {
  const root = await temporaryDirectory();
  const workspace = path.join(root, "workspace");
  await mkdir(workspace);
  await writeFile(path.join(root, "secret"), "secret");
  await writeFile(path.join(workspace, "file"), "content");
  await writeFile(path.join(workspace, "empty"), "");
  await symlink("file", path.join(workspace, "link"));
  await symlink("../secret", path.join(workspace, "out"));
  execFileSync("mkfifo", [path.join(workspace, "pipe")]);
  return { root, workspace, read: (name: string, limit = 100) => readFileInside(workspace, path.join(workspace, name), limit) };
}

test.each([
  ["file", { content: Buffer.from("content") }],
  ["link", { content: Buffer.from("content") }],
  ["empty", { content: Buffer.alloc(0) }],
  ["missing", { fault: "missing" }],
  ["file/below", { fault: "missing" }],
  [".", { fault: "no_file" }],
  ["pipe", { fault: "no_file" }],
  ["out", { fault: "outside" }],
])("%s", async (name, expected) => {
  const { read } = await makeWorkspace();
  expect(read(name)).toEqual(expected);
});

test("a file over the limit is not read", async () => {
  const { read } = await makeWorkspace();
  expect(read("file", 6)).toEqual({ fault: "too_large" });
});

/** Simulates a task that changes a file between the check of its name, its opening and the next check. */
function swapBeforeOpening(swap: () => void, swapBack = () => {}): void {
  const open = fs.openSync;
  const spy = vi.spyOn(fs, "openSync").mockImplementationOnce((...given) => {
    swap();
    const descriptor = open(...given);
    swapBack();
    return descriptor;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

test("a pipe that replaces a file does not block the read", async () => {
  const { workspace, read } = await makeWorkspace();
  swapBeforeOpening(() => fs.renameSync(path.join(workspace, "pipe"), path.join(workspace, "file")));
  expect(read("file")).toEqual({ fault: "no_file" });
});

test("a link that briefly replaces a file is not followed", async () => {
  const { workspace, read } = await makeWorkspace();
  const file = path.join(workspace, "file");
  swapBeforeOpening(
    () => fs.renameSync(path.join(workspace, "out"), file),
    () => fs.renameSync(path.join(workspace, "empty"), file),
  );
  expect(read("file")).toEqual({ fault: "outside" });
});
