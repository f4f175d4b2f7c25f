import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { createRunSetup } from "../../src/app/run-setup.ts";
import { listBorrowedObjects } from "../../src/repositories/paths.ts";
import { git, openRepositories, write } from "../repositories/open-repositories.ts";
import { directoryOutsideTmp, openSandbox } from "./open-sandbox.ts";

const { signal } = new AbortController();

async function openInSandbox() {
  const root = directoryOutsideTmp();
  const filesDir = path.join(root, "data");
  mkdirSync(filesDir);
  const sandbox = await openSandbox({ hidden: [filesDir], readableWith: (writable) => listBorrowedObjects(filesDir, writable) });
  const subject = await openRepositories({ root, sandbox });
  const runSetup = createRunSetup({ environment: process.env, sandbox });
  /** Runs a script as a task would, in its tree. Returns what it prints. */
  const runInTree = async (tree: string, script: string): Promise<string[]> => {
    const lines: string[] = [];
    const directories = { home: path.join(filesDir, "homes/default/coder"), tmp: path.join(filesDir, "tmp/task") };
    mkdirSync(directories.home, { recursive: true });
    await runSetup({ argv: ["/bin/sh", "-c", script], tree, ...directories, taskHandle: "t", onLine: (line) => lines.push(line), signal });
    return lines;
  };
  return { ...subject, runInTree };
}

test("a task in the sandbox commits in its tree, and Bridge stores the commit", async () => {
  const { start, finish, repositories, runInTree } = await openInSandbox();
  const { task, directory } = await start();
  expect(
    await runInTree(
      directory,
      "git log --oneline | wc -l; echo two > a.txt && git commit -qam 'Change a line' && git log -1 --format='%an %s'",
    ),
  ).toEqual(["1", "coder Change a line"]);
  write(directory, { "b.txt": "new\n" });
  expect((await repositories.readDiff(task, signal)).diff).toContain("+new");
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(outcome).toMatchObject({ commits: 2, files: 2 });
  expect((await repositories.readDiff(task, signal)).diff).toContain("+two");
});

test("a task in the sandbox sees nothing of other trees and tenants, and cannot change the mirror", async () => {
  const { start, finish, filesDir, runInTree } = await openInSandbox();
  const other = await start({ tenant: "other" });
  write(other.directory, { "secret.txt": "secret\n" });
  await finish(other.task);
  const { directory } = await start();
  const web = path.join(filesDir, "repositories/web");
  const probe = `
for path in ${web}/source.git/HEAD ${web}/source.git/config ${web}/tenants/other.git ${other.directory} ${path.dirname(directory)}/tree.json ${path.dirname(directory)}/index; do
  test -e "$path" && echo "sees $path"
done
for path in ${web}/source.git/objects/x ${web}/tenants/default.git/objects/x ${path.dirname(directory)}/x ${filesDir}/x; do
  (: > "$path") 2>/dev/null && echo "writes $path"
done
ls ${web}/tenants; ls ${filesDir}/trees | wc -l`;
  expect(await runInTree(directory, probe)).toEqual(["default.git", "1"]);
  writeFileSync(path.join(directory, ".git/objects/info/alternates"), `${web}/tenants/other.git/objects\n`);
  const secret = git(path.join(web, "tenants/other.git"), "rev-parse", "bridge/t1");
  expect(await runInTree(directory, `git cat-file -e ${secret} 2>/dev/null || echo absent`)).toEqual(["absent"]);
});
