import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { type HeldDirectory, holdDirectory, openFileInside } from "@hak2i/nofollow-fs";
import { expect, onTestFinished, test } from "vitest";
import { walkFiles } from "../../../src/workspaces/walk-files.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";

/** Reads a file; null when it cannot be opened. */
async function read(root: string, ...names: string[]): Promise<string | null> {
  const handle = await openFileInside(root, names);
  try {
    return (await handle?.readFile("utf8")) ?? null;
  } finally {
    await handle?.close();
  }
}

async function workspaceBesideSecrets() {
  const directory = await temporaryDirectory();
  const root = path.join(directory, "workspace");
  await mkdir(path.join(root, "sub"), { recursive: true });
  await mkdir(path.join(directory, "outside"));
  await writeFile(path.join(root, "sub/file"), "inside");
  await writeFile(path.join(directory, "outside/file"), "secret");
  return { root, outside: path.join(directory, "outside") };
}

test("openFileInside opens a file below the root, also if the root is a link", async () => {
  const { root, outside } = await workspaceBesideSecrets();
  expect(await read(root, "sub", "file")).toBe("inside");
  await symlink(root, path.join(outside, "to-root"));
  expect(await read(path.join(outside, "to-root"), "sub", "file")).toBe("inside");
});

test("openFileInside opens only regular files without further hard links, and does not wait for a pipe", async () => {
  const { root, outside } = await workspaceBesideSecrets();
  await symlink(path.join(outside, "file"), path.join(root, "link-to-file"));
  await symlink("sub/file", path.join(root, "link-inside"));
  await symlink(outside, path.join(root, "link-to-directory"));
  await symlink("link-loop", path.join(root, "link-loop"));
  await link(path.join(outside, "file"), path.join(root, "hard-link"));
  execFileSync("mkfifo", [path.join(root, "pipe")]);
  const socket = createServer().listen(path.join(root, "socket"));
  onTestFinished(() => void socket.close());
  for (const name of ["link-to-file", "link-inside", "link-loop", "hard-link", "pipe", "socket", "sub", "missing", "x".repeat(300)])
    expect(await read(root, name), name).toBeNull();
  expect(await read(root, "link-to-directory", "file")).toBeNull();
  expect(await read(root, "sub", "file", "deeper")).toBeNull();
  expect(await read(path.join(root, "missing"), "file")).toBeNull();
});

// On other systems a path cannot start at an open directory, so a race is possible.
test.runIf(existsSync("/proc/self/fd"))(
  "openFileInside never leads out while a directory and a link change places all the time",
  async () => {
    const { root, outside } = await workspaceBesideSecrets();
    await writeFile(path.join(outside, "only-outside"), "");
    await symlink(outside, path.join(root, "link"));
    const swap = `const fs = require("node:fs"); process.chdir(${JSON.stringify(root)}); console.log("ready");
    for (;;) { fs.renameSync("sub", "kept"); fs.renameSync("link", "sub"); fs.renameSync("sub", "link"); fs.renameSync("kept", "sub"); }`;
    const swapper = spawn(process.execPath, ["-e", swap], { stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(swapper, "exit");
    // The directory can only be removed when nothing changes in it.
    onTestFinished(async () => {
      swapper.kill("SIGKILL");
      await exited;
    });
    await once(swapper.stdout, "data");

    const seen = new Set<string | null>();
    const listed = new Set<string>();
    const held = holdDirectory(root) as HeldDirectory;
    for (let round = 0; round < 3000 || seen.size < 2; round += 1) {
      seen.add(await read(root, "sub", "file"));
      if (round % 10 > 0) continue;
      const { files } = await walkFiles(held, { after: null, limit: 10, skip: new Set(), isWanted: () => true });
      for (const file of files) listed.add(file.path);
    }
    held.close();
    expect(seen).toEqual(new Set(["inside", null]));
    for (const name of listed) expect(name).toMatch(/^(sub|kept)\/file$/);
  },
);
