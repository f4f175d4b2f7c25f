import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { runCli } from "./start-cli.ts";

const identity = (name: string) => ({ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: `${name}@localhost`, GIT_COMMITTER_NAME: name });
const git = async (cwd: string, ...args: string[]): Promise<string> =>
  (await execa("git", args, { cwd, env: { ...identity("agent"), GIT_COMMITTER_EMAIL: "agent@localhost" } })).stdout;
const read = (...parts: string[]): Promise<string> => readFile(path.join(...parts), "utf8");

/** Creates a repository with one commit, and a clone of it in which a task works. */
async function createClones(files: Record<string, string> = { "a.txt": "one\ntwo\nthree\nfour\nfive\n", "docs/b.txt": "old\n" }) {
  const root = await temporaryDirectory();
  const [mine, tree] = [path.join(root, "mine"), path.join(root, "tree")];
  await mkdir(path.join(mine, "docs"), { recursive: true });
  await git(root, "init", "-q", "-b", "main", mine);
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(mine, name), content);
  await git(mine, "add", "-A");
  await git(mine, "commit", "-qm", "first");
  await git(root, "clone", "-q", mine, tree);
  return { mine, tree, baseCommit: await git(mine, "rev-parse", "HEAD") };
}

/** Commits files in the tree of a task. */
async function commit(tree: string, title: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(tree, name)), { recursive: true });
    await writeFile(path.join(tree, name), content);
  }
  await git(tree, "add", "-A");
  await git(tree, "commit", "-qm", title);
}

/** Serves a task with a work tree, and its patch. Returns a function that runs `brg apply` for it. */
async function serve(baseCommit: string, patch: string | Buffer) {
  const server = await startReceiver((response, { url = "" }) =>
    url.endsWith("/patch")
      ? response.setHeader("content-type", "text/x-patch").end(patch)
      : response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ taskId: "fix-1", state: "completed", repository: { name: "web", branch: "bridge/fix-1", baseCommit } })),
  );
  onTestFinished(server.close);
  const scratch = await temporaryDirectory();
  const access = { BRIDGE_URL: server.origin, BRIDGE_TOKEN: "any", TMPDIR: scratch };
  const person = { GIT_CONFIG_NOSYSTEM: "1", GIT_COMMITTER_NAME: "me", GIT_COMMITTER_EMAIL: "me@localhost" };
  return async (cwd: string, args: readonly string[] = [], env: Record<string, string> = person) => {
    const result = await runCli(["apply", "fix-1", ...args], { cwd, env: { ...access, ...env } });
    expect(await readdir(scratch)).toEqual([]);
    return result;
  };
}

const patchOf = (tree: string, baseCommit: string): Promise<string> =>
  execa("git", ["format-patch", "--stdout", "--binary", "--full-index", `${baseCommit}..HEAD`], {
    cwd: tree,
    stripFinalNewline: false,
  }).then(({ stdout }) => stdout);
/** What must be the same after a refused patch. */
const stateOf = async (clone: string) => [
  await git(clone, "rev-parse", "HEAD"),
  await git(clone, "status", "--porcelain", "--branch"),
  await git(clone, "worktree", "list"),
  existsSync(path.join(clone, ".git/rebase-apply")),
];

test("brg apply keeps the commits of a task with their titles, authors and line ends, from any directory of the work tree", async () => {
  const { mine, tree, baseCommit } = await createClones({ "a.txt": "one\r\ntwo\r\n", "docs/b.txt": "old\n" });
  await commit(tree, "[api] fix the login", { "a.txt": "one\r\nTWO\r\n", "new/logo.bin": "\u0000\u0001" });
  await commit(tree, "second", { "docs/b.txt": "new\n" });
  const apply = await serve(baseCommit, await patchOf(tree, baseCommit));

  const before = await stateOf(mine);
  expect(await apply(mine, ["--check"])).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("apply to") });
  expect(await stateOf(mine)).toEqual(before);
  const { exitCode, stdout, stderr } = await apply(path.join(mine, "docs"));
  expect({ exitCode, stdout, stderr }).toEqual({
    ...{ exitCode: 0, stdout: "a.txt\ndocs/b.txt\nnew/logo.bin" },
    stderr: `2 commit(s), which change 3 file(s), were applied to ${mine}.`,
  });
  expect(await git(mine, "log", "-2", "--format=%an %cn %s")).toBe("agent me second\nagent me [api] fix the login");
  expect(await git(mine, "rev-parse", "HEAD^{tree}")).toBe(await git(tree, "rev-parse", "HEAD^{tree}"));
  expect([await git(mine, "status", "--porcelain"), await read(mine, "a.txt")]).toEqual(["", "one\r\nTWO\r\n"]);

  const repeated = await apply(mine, ["--json"]);
  expect(JSON.parse(repeated.stdout)).toMatchObject({ taskId: "fix-1", applied: false, commits: 0, files: [] });
  expect(repeated.stderr).toBe(`${mine} already contains the changes.`);
});

test("brg apply merges the commits of a task with later commits, and keeps changes that are not committed", async () => {
  const { mine, tree, baseCommit } = await createClones();
  await commit(tree, "fix", { "a.txt": "one\ntwo\nthree\nfour\nFIVE\n" });
  await commit(mine, "later", { "a.txt": "zero\none\ntwo\nthree\nfour\nfive\n" });
  await writeFile(path.join(mine, "docs/b.txt"), "not committed\n");
  const apply = await serve(baseCommit, await patchOf(tree, baseCommit));
  expect(await apply(mine)).toMatchObject({ exitCode: 0 });
  expect(await read(mine, "a.txt")).toBe("zero\none\ntwo\nthree\nfour\nFIVE\n");
  expect(await git(mine, "status", "--porcelain")).toBe(" M docs/b.txt");
});

test("brg apply changes nothing if a commit conflicts, and names the files and the start of the task", async () => {
  const { mine, tree, baseCommit } = await createClones();
  await commit(tree, "clean", { "docs/b.txt": "new\n" });
  await commit(tree, "conflicting", { "a.txt": "one\nTWO\nthree\nfour\nfive\n" });
  await commit(mine, "later", { "a.txt": "one\n2\nthree\nfour\nfive\n" });
  const apply = await serve(baseCommit, await patchOf(tree, baseCommit));
  const before = await stateOf(mine);
  const { exitCode, stderr } = await apply(mine);
  expect(exitCode).toBe(6);
  expect(stderr).toContain(`nothing was changed. The task started from the commit ${baseCommit.slice(0, 12)}, and here`);
  expect(stderr).toMatch(/\n {2}conflict in a\.txt\n.*brg apply fix-1 --3way$/);
  expect(await stateOf(mine)).toEqual(before);
});

test.each<[string, (mine: string) => Promise<unknown>]>([
  ["a change of the same file that is not committed", (mine) => writeFile(path.join(mine, "a.txt"), "mine\n")],
  ["an untracked file of the same name", (mine) => writeFile(path.join(mine, "new.txt"), "mine\n")],
  ["a link that git does not know", (mine) => symlink("..", path.join(mine, "beyond"))],
])("brg apply changes nothing if the work tree has %s", async (_, change) => {
  const { mine, tree, baseCommit } = await createClones();
  await commit(tree, "fix", { "a.txt": "theirs\n", "new.txt": "theirs\n", "beyond/outside.txt": "theirs\n" });
  const apply = await serve(baseCommit, await patchOf(tree, baseCommit));
  await change(mine);
  const before = await stateOf(mine);
  for (const args of [["--check"], []])
    expect(await apply(mine, args)).toMatchObject({ exitCode: 6, stderr: expect.stringContaining("Commit or stash your changes") });
  expect([await stateOf(mine), existsSync(path.join(mine, "../outside.txt"))]).toEqual([before, false]);
});

test.each(["../outside.txt", ".git/hooks/post-merge", "link/outside.txt"])(
  "brg apply never writes to %s, whatever the server sends",
  async (name) => {
    const { mine, tree, baseCommit } = await createClones();
    await symlink("..", path.join(mine, "link"));
    await git(mine, "add", "link");
    await git(mine, "commit", "-qm", "link");
    await commit(tree, "fix", { "placeholder.txt": "evil\n" });
    const patch = (await patchOf(tree, baseCommit)).replaceAll("placeholder.txt", name);
    const apply = await serve(baseCommit, patch);
    const before = await stateOf(mine);
    expect(await apply(mine)).toMatchObject({ exitCode: 6, stderr: expect.stringContaining("nothing was changed") });
    expect([
      await stateOf(mine),
      existsSync(path.join(mine, "../outside.txt")),
      existsSync(path.join(mine, ".git/hooks/post-merge")),
    ]).toEqual([...[before, false, false]]);
  },
);

test("brg apply runs no hook and no command of the person's configuration on the patches, except after the merge", async () => {
  const { mine, tree, baseCommit } = await createClones();
  await commit(tree, "fix", { "a.txt": "theirs\n" });
  const apply = await serve(baseCommit, await patchOf(tree, baseCommit));
  for (const hook of ["applypatch-msg", "pre-applypatch", "post-merge"])
    await writeFile(path.join(mine, ".git/hooks", hook), `#!/bin/sh\necho ${hook} >> "$(git rev-parse --git-dir)/hooks-that-ran"\n`, {
      mode: 0o755,
    });
  expect(await apply(mine)).toMatchObject({ exitCode: 0 });
  expect(await read(mine, ".git/hooks-that-ran")).toBe("post-merge\n");
});

test("brg apply reports a task without changes, a repository without a commit, and a missing name", async () => {
  const { mine, tree, baseCommit } = await createClones();
  expect(await (await serve(baseCommit, ""))(mine)).toEqual({ exitCode: 0, stdout: "", stderr: "The task changed nothing." });
  await commit(tree, "fix", { "a.txt": "theirs\n" });
  const apply = await serve(baseCommit, await patchOf(tree, baseCommit));
  const empty = await temporaryDirectory();
  await git(empty, "init", "-q");
  expect(await apply(empty)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("has no commit yet") });
  const nobody = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.useConfigOnly", GIT_CONFIG_VALUE_0: "true" };
  expect(await apply(mine, [], nobody)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("git config --global user.name") });
});
