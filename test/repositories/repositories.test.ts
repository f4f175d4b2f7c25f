import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { createRunGit } from "../../src/app/run-git.ts";
import { createRunHost } from "../../src/app/run-host.ts";
import type { TreeTaskState } from "../../src/repositories/repository.ts";
import { commit, git, openRepositories, write } from "./open-repositories.ts";

const { signal } = new AbortController();

test("the repositories file has defaults, and faults name the field", async () => {
  const { repositories, writeFile, source, log } = await openRepositories();
  expect(repositories.describe()).toEqual([
    { name: "web", source, tenants: null, push: false, defaultRef: "HEAD", setup: null, setupSeconds: 300 },
  ]);
  writeFile([
    { name: "web", source: "relative/path" },
    { name: "-x", source, setup: [] },
    { name: "ok", source: "git@github.com:owner/name.git", setupSeconds: 0, more: 1 },
  ]);
  await expect.poll(() => repositories.faults().length).toBe(5);
  expect(repositories.faults()[0]).toBe(
    'BRIDGE_REPOSITORIES_FILE: 0.source must be an absolute path, or a URL that begins with https://, http://, ssh://, git:// or file://, or user@host:path (entry "web")',
  );
  expect(repositories.listWarnings()).toEqual(["BRIDGE_REPOSITORIES_FILE: 5 fault(s), previous repositories stay in force"]);
  expect(log.at(-1)).toMatchObject({ msg: "repositories file is not valid, previous repositories stay in force" });
  writeFile([
    { name: "web", source },
    { name: "WEB", source },
  ]);
  await expect.poll(() => repositories.faults()).toEqual([expect.stringContaining("1.name WEB is the name of another repository")]);
  writeFile([{ name: "api", source }]);
  await expect.poll(async () => (await repositories.list("default")).map(({ name }) => name)).toEqual(["api"]);
  expect([repositories.faults(), repositories.listWarnings()]).toEqual([[], []]);
});

test.each(["ext::sh -c true", "-x", "fd::17", "host:path", "x@-oProxyCommand=y:z", "x@host::y", "https://", "ftp://host/x"])(
  "the source %j is not valid",
  async (source) => {
    await expect(openRepositories({ entries: [{ name: "web", source }] })).rejects.toThrow("0.source must be an absolute path");
  },
);

test("a tenant sees only its repositories", async () => {
  const { repositories, source, createTask, run } = await openRepositories({ entry: { tenants: ["a"] } });
  expect(await repositories.list("a")).toEqual([{ name: "web", defaultRef: "HEAD", push: false, lastFetchAt: null }]);
  expect(await repositories.list("b")).toEqual([]);
  await repositories.resolve("a", { name: "web", branch: "x" }, false);
  expect((await repositories.list("a"))[0]?.lastFetchAt).toBeTypeOf("number");
  await expect(repositories.resolve("b", { name: "web", branch: "x" }, false)).rejects.toMatchObject({
    code: "unknown_repository",
    message: "No repositories are configured for your tenant. The operator lists them in the file that BRIDGE_REPOSITORIES_FILE names.",
  });
  await expect(repositories.resolve("a", { name: "wep", branch: "x" }, false)).rejects.toThrow(
    'There is no repository "wep". Did you mean "web"?',
  );
  await expect(repositories.resolve("a", { name: "other", branch: "x" }, false)).rejects.toThrow(
    'There is no repository "other". GET /api/v2/repositories lists the repositories of your tenant.',
  );
  await expect(repositories.open(createTask({ tenant: "b" }), run())).rejects.toMatchObject({ code: "unknown_repository" });
  expect(existsSync(source)).toBe(true);
});

test("a dispatch cannot take a branch of the source or one that git cannot store, or push without permission", async () => {
  const { repositories, source, start, finish } = await openRepositories();
  git(source, "branch", "taken");
  const { task, directory } = await start({ branch: "fix/login" });
  write(directory, { "a.txt": "two\n" });
  await finish(task);
  const resolve = (branch: string, more = {}) => repositories.resolve("default", { name: "web", branch, ...more }, false);
  await expect(resolve("taken")).rejects.toMatchObject({ code: "invalid_state" });
  await expect(resolve("fix")).rejects.toThrow("next to the branch fix/login");
  await expect(resolve("fix/login/more")).rejects.toThrow("next to the branch fix/login");
  await expect(resolve("fine", { push: true })).rejects.toMatchObject({ code: "push_refused" });
  await expect(resolve("fine", { ref: "fix/login" })).resolves.toMatchObject({ baseCommit: expect.any(String) });
  await expect(resolve("fine", { ref: "0".repeat(40) })).rejects.toMatchObject({ code: "unknown_ref" });
});

test("a dispatch does not wait for a slow fetch, and its task does", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { repositories, options, createTask, run, source } = await openRepositories({
    options: {
      fetchSeconds: 0.05,
      async runHost(call) {
        if (call.argv.includes("clone")) await released;
        return await createRunHost({ environment: process.env, tmpRoot: path.join(options.filesDir, "tmp") })(call);
      },
    },
  });
  expect(await repositories.resolve("default", { name: "web", branch: "x" }, false)).toEqual({ ref: "HEAD", baseCommit: null });
  const opening = repositories.open(createTask({ baseCommit: null }), run());
  release();
  expect((await opening).baseCommit).toBe(git(source, "rev-parse", "main"));
});

test("a source that cannot be reached fails tasks with the reason, except those that start at a stored commit", async () => {
  const { repositories, source, log, start, createTask, run } = await openRepositories();
  const { baseCommit } = await start();
  rmSync(source, { recursive: true });
  const asked = { name: "web", branch: "x" };
  expect(await repositories.resolve("default", asked, false)).toEqual({ ref: "HEAD", baseCommit: null });
  expect(log).toContainEqual(
    expect.objectContaining({ msg: "repository fetch failed", repository: "web", fault: expect.stringContaining("does not") }),
  );
  expect(await repositories.resolve("default", { ...asked, ref: baseCommit }, false)).toEqual({ ref: baseCommit, baseCommit });
  await expect(repositories.open(createTask(), run())).rejects.toMatchObject({
    code: "invalid_state",
    // The path of the source is only for the operator.
    message: expect.stringMatching(/^web cannot be fetched: fatal: 'web' does not/),
  });
  expect((await repositories.open(createTask({ ref: baseCommit, baseCommit }), run())).baseCommit).toBe(baseCommit);
});

test("a shallow source is refused with the reason", async () => {
  const { root, source, writeFile, repositories, log } = await openRepositories();
  commit(source, { "a.txt": "two\n" });
  git(root, "clone", "--quiet", "--depth=1", `file://${source}`, "shallow");
  writeFile([{ name: "shallow", source: `file://${root}/shallow` }]);
  await expect.poll(() => repositories.list("default")).toHaveLength(1);
  await expect.poll(async () => (await repositories.list("default"))[0]?.name).toBe("shallow");
  expect(await repositories.resolve("default", { name: "shallow", branch: "x" }, false)).toMatchObject({ baseCommit: null });
  expect(log.at(-1)).toMatchObject({ msg: "repository fetch failed", fault: expect.stringContaining("shallow") });
});

test.each(["user:secret@127.0.0.1:1/x.git", "user:se@secret@127.0.0.1:1/x.git?token=secret"])(
  "an error of git does not show the source %j, which can contain credentials",
  async (place) => {
    const { repositories, log } = await openRepositories({ entry: { source: `https://${place}` } });
    await repositories.resolve("default", { name: "web", branch: "x" }, false);
    expect(log.at(-1)).toMatchObject({ repository: "web", fault: expect.stringContaining("unable to access 'web/'") });
    expect(JSON.stringify(log)).not.toContain("secret");
  },
);

test("a clone and a tree that exceed the disk limit are refused", async () => {
  const large = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 2654435761) >>> 24));
  const { repositories } = await openRepositories({ files: { "large.bin": large }, options: { maxBytes: 100 * 1024 } });
  await expect(repositories.resolve("default", { name: "web", branch: "x" }, false)).rejects.toMatchObject({
    code: "overloaded",
    message: expect.stringContaining("A clone of web needs"),
  });
  const { root } = await openRepositories({ files: { "zeros.bin": Buffer.alloc(5_000_000) } });
  const entries = [{ name: "web", source: path.join(root, "source/.git") }];
  const zeros = await openRepositories({ root, entries, options: { maxBytes: 4 * 1024 * 1024 } });
  await expect(zeros.start()).rejects.toMatchObject({ code: "overloaded", message: expect.stringContaining("A work tree of web needs") });
  expect(zeros.trees()).toEqual([]);
});

test("a sweep stores the changes of ended tasks, keeps open trees, and removes what crashes left", async () => {
  const { repositories, start, trees, filesDir, tenantRepository } = await openRepositories();
  const [ended, open, deleted] = [await start(), await start(), await start()];
  for (const { directory } of [ended, open, deleted]) write(directory, { "a.txt": "changed\n" });
  for (const leftover of [".new-1/web", ".removed-1/web", "without-record/web"])
    mkdirSync(path.join(filesDir, "trees", leftover), { recursive: true });
  const mirror = path.join(filesDir, "repositories/web/source.git");
  for (const lock of ["packed-refs.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_x"]) writeFileSync(path.join(mirror, lock), "");
  mkdirSync(path.join(filesDir, "repositories/web/.new-1.git"));
  const states = new Map<string, TreeTaskState>([
    [ended.task.taskId, "ended"],
    [open.task.taskId, "open"],
  ]);
  const stateOf = async ({ taskId }: { taskId: string }) => states.get(taskId) ?? "unknown";
  const known = { stateOf, onEnded: async () => {} };
  await repositories.prepare();
  await repositories.sweep(known);
  expect(trees()).toHaveLength(1);
  expect(existsSync(open.directory)).toBe(true);
  expect((await repositories.readDiff(ended.task, signal)).diff).toContain("+changed");
  expect(git(tenantRepository(), "for-each-ref", "--format=%(refname:short)", "refs/heads")).toBe("bridge/t1");
  await expect(repositories.readDiff(deleted.task, signal)).rejects.toMatchObject({ code: "not_found" });
  expect(readdirSync(path.join(filesDir, "repositories/web")).sort()).toEqual(["fetched", "source.git", "tenants"]);
  expect(existsSync(path.join(mirror, "refs/heads/main.lock"))).toBe(false);
  // Its branch goes with the task.
  states.delete(ended.task.taskId);
  await repositories.sweep(known);
  expect(git(tenantRepository(), "for-each-ref", "--format=%(refname:short)", "refs/heads")).toBe("");
});

test("a sweep removes the objects of deleted tasks when they are a day old", async () => {
  const { repositories, start, finish, tenantRepository } = await openRepositories();
  const { task, directory } = await start();
  write(directory, { "a.txt": "changed\n" });
  const { headCommit } = await finish(task);
  await repositories.release(task);
  const packs = path.join(tenantRepository(), "objects/pack");
  const old = Date.now() / 1000 - 90_000;
  for (const name of readdirSync(packs)) utimesSync(path.join(packs, name), old, old);
  await repositories.sweep({ stateOf: async () => "ended", onEnded: async () => {} });
  git(tenantRepository(), "cat-file", "-e", String(headCommit));
  await repositories.sweep({ stateOf: async () => "unknown", onEnded: async () => {} });
  expect(() => git(tenantRepository(), "cat-file", "-e", String(headCommit))).toThrow();
});

test("no change is lost if Bridge ends at any step of the end of a task", async () => {
  class Crash extends Error {}
  const first = await openRepositories({ entry: { push: true } });
  const { task, directory } = await first.start({ push: true });
  write(directory, { "a.txt": "two\n", "b.txt": "new\n" });
  git(directory, "branch", "side");
  const parts = { environment: process.env, sandbox: null };
  let remaining = 0;
  let isDone = false;
  let rounds = 0;
  for (; !isDone; rounds += 1) {
    remaining = rounds;
    const crash = () => {
      remaining -= 1;
      if (remaining < 0) throw new Crash();
    };
    const runGit = createRunGit(parts);
    const runHost = createRunHost({ ...parts, tmpRoot: path.join(first.filesDir, "tmp") });
    const { repositories } = await openRepositories({
      root: first.root,
      entry: { push: true },
      options: {
        async runGit(call) {
          crash();
          return await runGit(call);
        },
        async runHost(call) {
          crash();
          return await runHost(call);
        },
      },
    });
    const outcome = await repositories.finish(task);
    isDone = outcome !== null && outcome.error === undefined && outcome.pushed;
    // A failed push is an outcome, not a crash.
    if (outcome?.pushError !== undefined) break;
  }
  expect(rounds).toBeGreaterThan(8);
  const known = { stateOf: async () => "ended" as const, onEnded: async () => {} };
  await first.repositories.sweep(known);
  expect(first.trees()).toEqual([]);
  const { diff } = await first.repositories.readDiff(task, signal);
  expect(diff).toContain("+two");
  expect(diff).toContain("+new");
});

test("a sweep leaves the tree of a task that has continued the branch in the meantime", async () => {
  const { repositories, start, finish, createTask, run, trees } = await openRepositories();
  const first = await start({ branch: "bridge/fix" });
  write(first.directory, { "a.txt": "two\n" });
  const { headCommit: baseCommit } = await finish(first.task);
  const next = createTask({ branch: "bridge/fix", baseCommit, continuesBranch: true });
  const onEnded: string[] = [];
  await repositories.sweep({
    async stateOf({ taskId }) {
      if (taskId !== first.task.taskId) return "open";
      const { directory } = await repositories.open(next, run());
      write(directory, { "b.txt": "running\n" });
      return "ended";
    },
    onEnded: async ({ taskId }) => void onEnded.push(taskId),
  });
  expect(onEnded).toEqual([]);
  expect(trees()).toHaveLength(1);
  expect(await finish(next)).toMatchObject({ files: 1, commits: 1 });
});

test("a dispatch is refused with the reason on a host without git", async () => {
  const missing = { spawnError: "ENOENT", exitCode: null, aborted: false, limit: null, stdout: Buffer.alloc(0), stderr: "" };
  const { repositories } = await openRepositories({ options: { runHost: async () => missing } });
  await expect(repositories.resolve("default", { name: "web", branch: "x" }, false)).rejects.toMatchObject({
    code: "invalid_state",
    errors: [{ path: "repository.name", message: expect.stringContaining("Install git") }],
  });
});

test("the outcome of a task reports that its tree could not be read, without paths of the operator", async () => {
  const { repositories, start, finish, filesDir, trees } = await openRepositories();
  const { task } = await start();
  const record = path.join(filesDir, "trees", String(trees()[0]), "tree.json");
  rmSync(record);
  mkdirSync(record);
  const { error } = await finish(task);
  expect(error).toContain("EISDIR");
  expect(error).not.toContain(filesDir);
  await repositories.release(task);
  expect(trees()).toHaveLength(1);
});
