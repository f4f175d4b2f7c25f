import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { commit, git, openRepositories, write } from "./open-repositories.ts";

const { signal } = new AbortController();

test("a tree contains the base, and its end stores commits and uncommitted changes", async () => {
  const { source, start, finish, trees, repositories, tenantRepository } = await openRepositories();
  const { task, directory, baseCommit } = await start();
  expect(baseCommit).toBe(git(source, "rev-parse", "main"));
  expect(readFileSync(path.join(directory, "a.txt"), "utf8")).toBe("one\n");
  write(directory, { "a.txt": "one\ntwo\n" });
  git(directory, "commit", "--all", "--message", "Add a line");
  write(directory, { "b/c.txt": "new\n" });
  const outcome = await finish(task);
  expect(outcome).toMatchObject({
    name: "web",
    branch: "bridge/t1",
    baseCommit,
    commits: 2,
    files: 2,
    insertions: 2,
    deletions: 0,
    pushed: false,
  });
  expect(git(tenantRepository(), "rev-parse", "bridge/t1")).toBe(outcome.headCommit);
  expect(git(tenantRepository(), "log", "-1", "--format=%an %ae %s", "bridge/t1")).toBe(
    "Bridge bridge@localhost Uncommitted changes of task t:1",
  );
  expect(await finish(task)).toEqual(outcome);
  await repositories.release(task);
  expect(trees()).toEqual([]);
  const { diff } = await repositories.readDiff(task, signal);
  expect(diff).toContain("+two");
  expect(diff).toContain("+new");
  const patch = await repositories.readPatch(task, signal);
  expect(patch.toString()).toContain("Subject: [PATCH 1/2] Add a line");
});

test("a task starts at the commit that its ref names when it is dispatched, after a fetch", async () => {
  const { source, repositories } = await openRepositories();
  const first = git(source, "rev-parse", "HEAD");
  const asked = { name: "web", branch: "bridge/one" };
  expect(await repositories.resolve("default", asked, false)).toEqual({ ref: "HEAD", baseCommit: first });
  const second = commit(source, { "a.txt": "two\n" });
  git(source, "tag", "v1");
  expect(await repositories.resolve("default", asked, false)).toEqual({ ref: "HEAD", baseCommit: second });
  expect(await repositories.resolve("default", { ...asked, ref: "v1" }, false)).toEqual({ ref: "v1", baseCommit: second });
  expect(await repositories.resolve("default", { ...asked, ref: first }, false)).toEqual({ ref: first, baseCommit: first });
});

test("two tasks of one agent edit the same file at once, and both diffs are whole", async () => {
  const { start, finish, repositories } = await openRepositories();
  const [one, two] = await Promise.all([start(), start()]);
  expect(one.directory).not.toBe(two.directory);
  write(one.directory, { "a.txt": "first\n" });
  write(two.directory, { "a.txt": "second\n" });
  await Promise.all([finish(one.task), finish(two.task)]);
  const diffs = await Promise.all([one, two].map(({ task }) => repositories.readDiff(task, signal)));
  expect(diffs.map(({ diff }) => diff.split("\n").at(-2))).toEqual(["+first", "+second"]);
});

test("all kinds of changes are stored, and ignored files are not", async () => {
  const files = { "a.txt": "one\n", "gone.txt": "gone\n", "mode.sh": "run\n", "same.txt": "abc\n", ".gitignore": "*.log\n" };
  const { start, finish, tenantRepository } = await openRepositories({ files });
  const { task, directory, baseCommit } = await start();
  write(directory, { "forced.log": "forced\n", "ignored.log": "ignored\n", "same.txt": "xyz\n" });
  git(directory, "add", "--force", "forced.log");
  git(directory, "commit", "--quiet", "--message", "Add a log");
  rmSync(path.join(directory, "gone.txt"));
  chmodSync(path.join(directory, "mode.sh"), 0o755);
  symlinkSync("a.txt", path.join(directory, "link"));
  write(directory, { ".git/info/exclude": "*.tmp\n", "x.tmp": "excluded\n" });
  expect(await finish(task)).toMatchObject({ commits: 2, files: 5 });
  expect(git(tenantRepository(), "diff", "--name-status", "--no-renames", baseCommit, "bridge/t1").split("\n")).toEqual([
    "A\tforced.log",
    "D\tgone.txt",
    "A\tlink",
    "M\tmode.sh",
    "M\tsame.txt",
  ]);
});

test("a task without changes ends at its base", async () => {
  const { start, finish, repositories } = await openRepositories();
  const { task, baseCommit } = await start();
  const counts = { commits: 0, files: 0, insertions: 0, deletions: 0 };
  expect(await finish(task)).toEqual({
    name: "web",
    branch: "bridge/t1",
    baseCommit,
    headCommit: baseCommit,
    ...counts,
    pushed: false,
    conflicts: null,
  });
  expect((await repositories.readDiff(task, signal)).diff).toBe("");
  expect(await repositories.readPatch(task, signal)).toHaveLength(0);
});

test("commits of other branches and of stashes are stored besides the head", async () => {
  const { start, finish, tenantRepository } = await openRepositories();
  const { task, directory } = await start();
  git(directory, "checkout", "--quiet", "-b", "side");
  const side = commit(directory, { "side.txt": "side\n" });
  git(directory, "checkout", "--quiet", "bridge/t1");
  for (const text of ["first\n", "second\n"]) {
    write(directory, { "a.txt": text });
    git(directory, "stash", "--quiet");
  }
  const stashes = [git(directory, "rev-parse", "stash@{0}"), git(directory, "rev-parse", "stash@{1}")];
  git(directory, "pack-refs", "--all");
  expect(await finish(task)).toMatchObject({ commits: 0, files: 0 });
  const others = git(tenantRepository(), "for-each-ref", "--format=%(objectname)", "refs/bridge/*/other/*").split("\n");
  expect(others.sort()).toEqual([side, ...stashes].sort());
});

test("a detached HEAD and a rewritten history are stored", async () => {
  const { start, finish, repositories } = await openRepositories();
  const { task, directory } = await start();
  git(directory, "checkout", "--quiet", "--orphan", "fresh");
  const root = commit(directory, { "a.txt": "fresh\n" });
  git(directory, "checkout", "--quiet", "--detach");
  expect(await finish(task)).toMatchObject({ headCommit: root, commits: 1, files: 1 });
  // git cannot express it as patches on the base, so it is one patch.
  const patch = (await repositories.readPatch(task, signal)).toString();
  expect(patch).toContain("Changes of task t:1");
  expect(await repositories.readPatch(task, signal)).toEqual(Buffer.from(patch));
});

test("git am applies the patch of a task with the same result", async () => {
  const { root, source, start, finish, repositories, tenantRepository } = await openRepositories({ files: { "a.txt": "one\r\ntwo\r\n" } });
  const { task, directory, baseCommit } = await start();
  commit(directory, { "a.txt": "one\r\nTWO\r\n", "bytes.bin": Buffer.from([0, 1, 255, 254]) }, "Change bytes\n\nFrom here on: a message");
  write(directory, { "latin.txt": Buffer.from("caf\xe9\n", "latin1") });
  const { headCommit } = await finish(task);
  const patch = path.join(root, "changes.patch");
  writeFileSync(patch, await repositories.readPatch(task, signal));
  git(source, "checkout", "--quiet", "-b", "applied", baseCommit);
  git(source, "am", "--quiet", "--keep-cr", patch);
  expect(git(source, "rev-parse", "HEAD^{tree}")).toBe(git(tenantRepository(), "rev-parse", `${headCommit}^{tree}`));
});

test.each(["--- a/file", "diff --git a/x b/x", `From ${"1".repeat(40)} Mon Sep 17 00:00:00 2001`, "From: someone", "Index: x"])(
  "the patch of a commit whose message contains %j applies",
  async (line) => {
    const { root, source, start, finish, repositories, tenantRepository } = await openRepositories();
    const { task, directory } = await start();
    commit(directory, { "a.txt": "two\n" }, `Change it\n\n${line}\nand more`);
    const { headCommit } = await finish(task);
    const patch = path.join(root, "changes.patch");
    writeFileSync(patch, await repositories.readPatch(task, signal));
    git(source, "am", "--quiet", patch);
    expect(git(source, "rev-parse", "HEAD^{tree}")).toBe(git(tenantRepository(), "rev-parse", `${headCommit}^{tree}`));
    expect(git(source, "log", "-1", "--format=%s")).toBe("Changes of task t:1");
  },
);

test.each([
  ["diff", true],
  ["none", false],
] as const)("a task that keeps %j stores no branch", async (keep, hasDiff) => {
  const { start, finish, repositories, tenantRepository, trees } = await openRepositories();
  const { task, directory } = await start({ keep });
  write(directory, { "a.txt": "two\n" });
  const outcome = await finish(task);
  expect(outcome).toMatchObject({ commits: 1, files: 1, insertions: 1, deletions: 1 });
  expect(outcome.headCommit === null).toBe(!hasDiff);
  await repositories.release(task);
  expect(trees()).toEqual([]);
  expect(git(tenantRepository(), "for-each-ref", "refs/heads")).toBe("");
  if (hasDiff) expect((await repositories.readDiff(task, signal)).diff).toContain("+two");
  else {
    await expect(repositories.readDiff(task, signal)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining('"keep": "none"'),
    });
    await expect(repositories.readPatch(task, signal)).rejects.toMatchObject({ code: "not_found" });
    expect(git(tenantRepository(), "for-each-ref")).toBe("");
  }
});

test("a task that continues a branch gets its head and the same directory", async () => {
  const { start, finish, repositories, createTask, run } = await openRepositories();
  const first = await start({ branch: "bridge/fix" });
  write(first.directory, { "a.txt": "two\n" });
  const { headCommit } = await finish(first.task);
  const asked = { name: "web", branch: "bridge/fix" };
  const resolved = await repositories.resolve("default", asked, true);
  expect(resolved.baseCommit).toBe(headCommit);
  const second = createTask({ branch: "bridge/fix", baseCommit: headCommit });
  // The tree of the first task is not released yet.
  const { directory } = await repositories.open(second, run());
  expect(directory).toBe(first.directory);
  write(directory, { "b.txt": "more\n" });
  expect(await finish(second)).toMatchObject({ baseCommit: headCommit, commits: 1, files: 1 });
  await repositories.release(first.task);
  expect((await repositories.readDiff(first.task, signal)).diff).toContain("+two");
});

test("a task that runs again after its changes were stored loses no later change", async () => {
  const { start, finish, repositories, run } = await openRepositories();
  const { task, directory } = await start();
  write(directory, { "a.txt": "two\n" });
  await finish(task);
  const again = await repositories.open(task, run());
  expect(readFileSync(path.join(again.directory, "a.txt"), "utf8")).toBe("two\n");
  write(again.directory, { "b.txt": "later\n" });
  expect(await finish(task)).toMatchObject({ files: 2 });
});

test("a further attempt starts with an unchanged tree at the same base", async () => {
  const { source, start, finish, repositories, run } = await openRepositories();
  const { task, directory, baseCommit } = await start();
  write(directory, { "a.txt": "attempt\n" });
  commit(source, { "a.txt": "later\n" });
  const fresh = await repositories.reset(task, run());
  expect(fresh).toEqual({ directory, baseCommit });
  expect(readFileSync(path.join(directory, "a.txt"), "utf8")).toBe("one\n");
  expect(await finish(task)).toMatchObject({ commits: 0 });
});

test("setup prepares a tree once, and reports its output", async () => {
  const setup = ["/bin/sh", "-c", 'echo "in $(basename "$PWD")"; echo ready >> setup.txt'];
  const { start, output, repositories, run } = await openRepositories({ entry: { setup } });
  const { task, directory } = await start();
  await repositories.open(task, run());
  expect(output).toEqual(["in web"]);
  expect(readFileSync(path.join(directory, "setup.txt"), "utf8")).toBe("ready\n");
});

test("a failed setup fails the task with the last lines of its output", async () => {
  const { start } = await openRepositories({ entry: { setup: ["/bin/sh", "-c", "seq 100; echo broken >&2; exit 3"] } });
  await expect(start()).rejects.toMatchObject({ code: "invalid_state", message: expect.stringMatching(/exit code 3.*broken/s) });
});

test("a branch is pushed to its source, and a failed push is part of the outcome", async () => {
  const { source, start, finish, repositories } = await openRepositories({ entry: { push: true } });
  const { task, directory } = await start({ push: true, branch: "fix" });
  write(directory, { "a.txt": "two\n" });
  const outcome = await finish(task);
  expect(outcome).toMatchObject({ pushed: true });
  expect(git(source, "rev-parse", "fix")).toBe(outcome.headCommit);
  await repositories.release(task);
  const other = await start({ push: true, branch: "diverged" });
  git(source, "branch", "diverged", "HEAD");
  const ahead = git(source, "commit-tree", "-m", "ahead", "-p", "main", "main^{tree}");
  git(source, "update-ref", "refs/heads/diverged", ahead);
  write(other.directory, { "a.txt": "three\n" });
  const failed = await finish(other.task);
  expect(failed).toMatchObject({ pushed: false, commits: 1, pushError: expect.stringContaining("rejected") });
  expect(failed.error).toBeUndefined();
  // The task itself can push nothing.
  expect(() => git(other.directory, "push", "origin", "HEAD")).toThrow("'origin' does not appear to be a git repository");
});

test("two tasks that continue a branch at the same commit lose no commit of each other", async () => {
  const { start, finish, repositories, createTask, run, tenantRepository } = await openRepositories();
  const first = await start({ branch: "bridge/fix" });
  write(first.directory, { "a.txt": "two\n" });
  const { headCommit: baseCommit } = await finish(first.task);
  const [second, third] = [1, 2].map(() => createTask({ branch: "bridge/fix", baseCommit, continuesBranch: true }));
  const ends = [];
  for (const [task, name] of [[second, "b.txt"] as const, [third, "c.txt"] as const]) {
    if (task === undefined) throw new Error("There is no task.");
    const { directory } = await repositories.open(task, run());
    write(directory, { [name]: "more\n" });
    ends.push(await finish(task));
    await repositories.release(task);
    expect((await repositories.readDiff(task, signal)).diff).toContain(`b/${name}`);
  }
  expect(ends[0]?.error).toBeUndefined();
  expect(ends[1]?.error).toContain("has moved to");
  expect(git(tenantRepository(), "rev-parse", "bridge/fix")).toBe(ends[0]?.headCommit);
});

test("a new task can have the branch that a deleted task has left", async () => {
  const { start, finish, repositories, tenantRepository } = await openRepositories();
  const deleted = await start({ branch: "bridge/fix" });
  write(deleted.directory, { "a.txt": "two\n" });
  await finish(deleted.task);
  await repositories.release(deleted.task);
  const { task, directory } = await start({ branch: "bridge/fix" });
  write(directory, { "b.txt": "new\n" });
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(git(tenantRepository(), "rev-parse", "bridge/fix")).toBe(outcome.headCommit);
});

test("the patch of a task that goes back to an earlier commit undoes the later ones", async () => {
  const { root, source, start, finish, repositories } = await openRepositories();
  for (const text of ["two\n", "three\n"]) commit(source, { "a.txt": text });
  const { task, directory, baseCommit } = await start();
  git(directory, "reset", "--quiet", "--hard", "HEAD~2");
  expect(await finish(task)).toMatchObject({ files: 1, commits: 0 });
  const patch = path.join(root, "changes.patch");
  writeFileSync(patch, await repositories.readPatch(task, signal));
  git(source, "checkout", "--quiet", "-b", "applied", baseCommit);
  git(source, "am", "--quiet", patch);
  expect(readFileSync(path.join(source, "a.txt"), "utf8")).toBe("one\n");
});

test("the patch of commits with very long messages is one commit", async () => {
  const { start, finish, repositories } = await openRepositories();
  const { task, directory } = await start();
  write(directory, { "a.txt": "two\n", ".git/message": `Change\n\n${"long line\n".repeat(500_000)}` });
  git(directory, "commit", "--quiet", "--all", "--file", ".git/message");
  expect(await finish(task)).toMatchObject({ commits: 1 });
  expect((await repositories.readPatch(task, signal)).toString()).toContain("Subject: [PATCH] Changes of task t:1");
});
