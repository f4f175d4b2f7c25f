import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { createRunGit } from "../../src/app/run-git.ts";
import { commit, git, openRepositories, write } from "./open-repositories.ts";

const { signal } = new AbortController();

const allEnded = { stateOf: async () => "ended" as const, onEnded: async () => {} };

/** Lists the files of a commit, with bytes that are not UTF-8 as git quotes them. */
const listFiles = (repository: string, revision: string): string[] => git(repository, "ls-tree", "-r", "--name-only", revision).split("\n");

test("nothing that a task writes into its tree makes Bridge's git run a program", async () => {
  const { root, start, finish, repositories } = await openRepositories({
    files: { "a.txt": "one\n", ".gitattributes": "*.txt filter=evil diff=evil merge=evil\n" },
  });
  const { task, directory } = await start();
  const ran = path.join(root, "ran");
  const script = path.join(root, "evil.sh");
  writeFileSync(script, `#!/bin/sh\ntouch "${ran}"\ncat\n`, { mode: 0o755 });
  const config = [
    `[core]\n\tfsmonitor = ${script}\n\thooksPath = ${root}/hooks\n\tpager = ${script}\n\teditor = ${script}\n\tsshCommand = ${script}\n\tattributesFile = ${root}/attributes`,
    `[filter "evil"]\n\tclean = ${script}\n\tsmudge = ${script}`,
    `[diff]\n\texternal = ${script}\n[diff "evil"]\n\ttextconv = ${script}\n\tcommand = ${script}`,
    `[uploadpack]\n\tpackObjectsHook = ${script}\n[gpg]\n\tprogram = ${script}\n[commit]\n\tgpgSign = true\n[include]\n\tpath = ${root}/included`,
    `[remote "origin"]\n\turl = ext::${script}\n\tuploadpack = ${script}\n[protocol]\n\tallow = always\n[credential]\n\thelper = ${script}`,
  ].join("\n");
  writeFileSync(path.join(directory, ".git/config"), config, { flag: "a" });
  writeFileSync(path.join(root, "included"), `[core]\n\tfsmonitor = ${script}\n`);
  for (const hooks of [path.join(directory, ".git/hooks"), path.join(root, "hooks")]) {
    mkdirSync(hooks, { recursive: true });
    for (const hook of [
      "pre-commit",
      "post-commit",
      "post-checkout",
      "reference-transaction",
      "post-index-change",
      "pre-push",
      "fsmonitor-watchman",
    ])
      writeFileSync(path.join(hooks, hook), `#!/bin/sh\ntouch "${ran}"\n`, { mode: 0o755 });
  }
  write(directory, { ".git/info/attributes": "* filter=evil diff=evil\n", "a.txt": "two\n", "b.txt": "new\n" });
  // A repository inside of the tree, with its own configuration.
  write(directory, { "nested/file.txt": "nested\n" });
  git(path.join(directory, "nested"), "init", "--quiet");
  git(path.join(directory, "nested"), "-c", "core.hooksPath=/dev/null", "add", "file.txt");
  writeFileSync(path.join(directory, "nested/.git/config"), config, { flag: "a" });
  const { diff } = await repositories.readDiff(task, signal);
  expect(diff).toContain("+two");
  const outcome = await finish(task);
  expect(outcome).toMatchObject({ commits: 1, files: 3 });
  expect(outcome.error).toBeUndefined();
  expect((await repositories.readDiff(task, signal)).diff).toContain("+nested");
  expect(existsSync(ran)).toBe(false);
  // The same configuration does run the program if git reads it.
  await execa("git", ["status"], { cwd: directory, reject: false, stdin: "ignore" });
  expect(existsSync(ran)).toBe(true);
});

test("a task cannot make Bridge store the commits of another tenant", async () => {
  const { start, finish, filesDir, repositories, tenantRepository } = await openRepositories();
  const other = await start({ tenant: "other", branch: "bridge/secret" });
  write(other.directory, { "secret.txt": "secret of another tenant\n" });
  const secret = (await finish(other.task)).headCommit as string;
  const { task, directory, baseCommit } = await start({ tenant: "mine" });
  const foreign = path.join(filesDir, "repositories/web/tenants/other.git/objects");
  writeFileSync(path.join(directory, ".git/objects/info/alternates"), `${foreign}\n`);
  writeFileSync(path.join(directory, ".git/HEAD"), `${secret}\n`);
  write(directory, { ".git/refs/heads/stolen": `${secret}\n`, "mine.txt": "mine\n" });
  await expect(repositories.readDiff(task, signal)).rejects.toMatchObject({ code: "invalid_state" });
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(outcome).toMatchObject({ commits: 1, files: 1 });
  expect(git(tenantRepository("mine"), "rev-parse", `${outcome.headCommit}^`)).toBe(baseCommit);
  expect((await repositories.readPatch(task, signal)).toString()).not.toContain("secret");
  expect(() => git(tenantRepository("mine"), "cat-file", "-e", secret)).toThrow();
});

test.each(["file", "link", "missing"])("the files of a tree are stored if its .git becomes a %s", async (kind) => {
  const { root, start, finish, repositories } = await openRepositories();
  const { task, directory, baseCommit } = await start();
  const elsewhere = path.join(root, "elsewhere");
  renameSync(path.join(directory, ".git"), elsewhere);
  if (kind === "file") writeFileSync(path.join(directory, ".git"), `gitdir: ${elsewhere}\n`);
  if (kind === "link") symlinkSync(elsewhere, path.join(directory, ".git"));
  write(directory, { "a.txt": "two\n", "b.txt": "new\n" });
  await expect(repositories.readDiff(task, signal)).rejects.toMatchObject({ code: "invalid_state" });
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(outcome).toMatchObject({ baseCommit, commits: 1, files: 2 });
  expect((await repositories.readDiff(task, signal)).diff).toContain("+two");
});

test.each([
  ["points to itself", "ref: HEAD\n"],
  ["names a branch that does not exist", "ref: refs/heads/none\n"],
  ["names a file elsewhere", "ref: refs/../../../../../etc/passwd\n"],
  ["names a commit that does not exist", `${"1".repeat(40)}\n`],
  ["is not text", "\0\xff\n"],
])("the files of a tree are stored if its HEAD %s", async (_what, head) => {
  const { start, finish } = await openRepositories();
  const { task, directory, baseCommit } = await start();
  write(directory, { ".git/HEAD": head, "a.txt": "two\n" });
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(outcome).toMatchObject({ baseCommit, commits: 1, files: 1 });
});

test("pipes, links and loops in the repository of a tree neither block nor lead elsewhere", async () => {
  const { root, start, finish } = await openRepositories();
  const { task, directory } = await start();
  git(directory, "checkout", "--quiet", "-b", "side");
  const side = commit(directory, { "side.txt": "side\n" });
  git(directory, "checkout", "--quiet", "bridge/t1");
  await execa("mkfifo", [
    path.join(directory, ".git/refs/heads/pipe"),
    path.join(directory, ".git/objects/pack/pipe.pack"),
    path.join(directory, "pipe"),
  ]);
  symlinkSync(path.join(directory, ".git/refs/heads"), path.join(directory, ".git/refs/heads/loop"));
  rmSync(path.join(directory, ".git/info/exclude"));
  await execa("mkfifo", [path.join(directory, ".git/info/exclude")]);
  symlinkSync(root, path.join(directory, ".git/objects/ff"));
  symlinkSync(path.join(root, "source/a.txt"), path.join(directory, "link.txt"));
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(outcome).toMatchObject({ commits: 1, files: 1 });
  expect(outcome.headCommit).not.toBe(side);
});

test("files with strange names and files that differ only in case are stored with their bytes", async () => {
  const { start, finish, repositories, tenantRepository } = await openRepositories();
  const { task, directory } = await start();
  const names = [
    "-rf",
    "--upload-pack=x",
    "new\nline",
    "back\\slash",
    "colon:name",
    " space ",
    "Readme",
    "README",
    "readme",
    "git~1x",
    "$(touch x)",
  ];
  write(directory, Object.fromEntries(names.map((name) => [name, `${name}\r\n`])));
  const binary = Buffer.concat([Buffer.from(directory), Buffer.from("/latin-"), Buffer.from([0xe9, 0xff])]);
  writeFileSync(binary, Buffer.from([0, 255, 10, 13, 10]));
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(outcome.files).toBe(names.length + 1);
  const files = listFiles(tenantRepository(), "bridge/t1");
  expect(files).toContain('"latin-\\351\\377"');
  expect(files).toEqual(expect.arrayContaining(["-rf", "Readme", "README", "readme", "colon:name", '"new\\nline"']));
  const { diff, diffBase64 } = await repositories.readDiff(task, signal);
  expect(diff).toContain("b/--upload-pack=x");
  expect(diffBase64).not.toBeNull();
});

test("a tree with files that git refuses is kept, and the outcome names the reason", async () => {
  const { start, finish, repositories, trees, log } = await openRepositories();
  const { task, directory } = await start();
  write(directory, { "sub/.GIT/config": "[core]\n", "fine.txt": "fine\n" });
  const outcome = await finish(task);
  expect(outcome.error).toMatch(/\.GIT/i);
  await repositories.release(task);
  expect(trees()).toHaveLength(1);
  expect(log.some(({ level }) => level === 50)).toBe(true);
  // After the file is removed, nothing prevents the end.
  rmSync(path.join(directory, "sub"), { recursive: true });
  await repositories.sweep(allEnded);
  expect(trees()).toEqual([]);
  expect((await repositories.readDiff(task, signal)).diff).toContain("+fine");
});

test("files that a task has made unreadable are stored", async () => {
  const runGit = createRunGit({ environment: process.env, sandbox: null });
  // Root can read everything, unless it gives up this capability.
  const prefix = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"] : [];
  const { start, finish, tenantRepository } = await openRepositories({
    options: { runGit: (call) => runGit({ ...call, argv: [...prefix, ...call.argv] }) },
  });
  const { task, directory } = await start();
  write(directory, { "closed/deep/a.txt": "a\n", "listed/b.txt": "b\n", "c.txt": "c\n", "a.txt": "two\n" });
  chmodSync(path.join(directory, "c.txt"), 0o000);
  chmodSync(path.join(directory, "listed"), 0o311);
  chmodSync(path.join(directory, "closed/deep"), 0o000);
  chmodSync(path.join(directory, "closed"), 0o000);
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(listFiles(tenantRepository(), "bridge/t1")).toEqual(["a.txt", "c.txt", "closed/deep/a.txt", "listed/b.txt"]);
});

test.each(["none", "branch"] as const)("a tree that git refuses, with keep %j, is removed when nothing of it is kept", async (keep) => {
  const { start, finish, repositories, trees } = await openRepositories();
  const { task, directory } = await start({ keep });
  write(directory, { "git~1": "refused\n", "a.txt": "two\n" });
  expect((await finish(task)).error).toContain("git~1");
  await repositories.release(task);
  expect(trees()).toHaveLength(keep === "none" ? 0 : 1);
  // After the task is deleted.
  await repositories.sweep({ ...allEnded, stateOf: async () => "unknown" });
  expect(trees()).toEqual([]);
});

test("files that are not in the encoding of their attribute are stored with their bytes", async () => {
  const { start, finish, tenantRepository } = await openRepositories();
  const { task, directory } = await start();
  write(directory, { ".gitattributes": "*.txt working-tree-encoding=UTF-16\n", "bad.txt": "no byte order mark\n", "other.md": "fine\n" });
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(outcome.files).toBe(3);
  expect(git(tenantRepository(), "show", "bridge/t1:bad.txt")).toBe("no byte order mark");
});

test("the files of a task whose commits are damaged are stored as one commit, and the outcome reports it", async () => {
  const { start, finish, repositories, trees } = await openRepositories();
  const { task, directory, baseCommit } = await start();
  commit(directory, { "a.txt": "damaged\n" });
  const blob = git(directory, "rev-parse", "HEAD:a.txt");
  commit(directory, { "a.txt": "three\n" });
  rmSync(path.join(directory, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  const outcome = await finish(task);
  expect(outcome).toMatchObject({ baseCommit, commits: 1, files: 1, error: expect.stringContaining("as one commit") });
  await repositories.release(task);
  expect(trees()).toEqual([]);
  expect((await repositories.readDiff(task, signal)).diff).toContain("+three");
});

test("repositories and submodules whose names are not UTF-8 become files of the commit", async () => {
  const { source, start, finish, tenantRepository } = await openRepositories();
  const gitlink = `160000 ${"1".repeat(40)} 0\\tsub\\351`;
  await execa("sh", ["-c", `printf '${gitlink}\\n' | git update-index --index-info`], { cwd: source });
  git(source, "commit", "--quiet", "--message", "Add a submodule");
  const { task, directory } = await start();
  const script = `nested=$(printf 'nested\\351'); sub=$(printf 'sub\\351'); mkdir -p "$nested" && git init --quiet "$nested" && echo 1 > "$nested/a" && echo 2 > "$sub/b"`;
  await execa("sh", ["-c", script], { cwd: directory });
  const outcome = await finish(task);
  expect(outcome.error).toBeUndefined();
  expect(listFiles(tenantRepository(), "bridge/t1")).toEqual(["a.txt", '"nested\\351/a"', '"sub\\351/b"']);
});

test("a submodule with a dangerous URL is not stored, and the tree is kept", async () => {
  const { start, finish, repositories, trees } = await openRepositories();
  const { task, directory } = await start();
  write(directory, { ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch /tmp/x\n' });
  const outcome = await finish(task);
  expect(outcome.error).toContain("gitmodulesUrl");
  await repositories.release(task);
  expect(trees()).toHaveLength(1);
});

test("submodules are not entered, and ext transports are refused", async () => {
  const { root, source, start, finish, repositories, writeFile } = await openRepositories();
  const inner = path.join(root, "inner");
  mkdirSync(inner);
  git(inner, "init", "--quiet");
  commit(inner, { "inner.txt": "inner\n" });
  git(source, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub");
  commit(source, {});
  const { task, directory } = await start();
  expect(readdirSync(path.join(directory, "sub"))).toEqual([]);
  write(directory, { "a.txt": "two\n" });
  expect(await finish(task)).toMatchObject({ commits: 1, files: 1 });
  const other = await start();
  write(other.directory, { "sub/new.txt": "written into the directory of a submodule\n" });
  await finish(other.task);
  expect((await repositories.readDiff(other.task, signal)).diff).toContain("+written into");
  writeFile([{ name: "web", source: `ext::sh -c "touch ${root}/ran"` }]);
  await expect.poll(() => repositories.faults()).toHaveLength(1);
  expect(existsSync(path.join(root, "ran"))).toBe(false);
});

test.each(["-x", "a..b", "a b", "refs/heads/../x", "x.lock", "a:b", "HEAD^", "@{-1}", "--upload-pack=touch", "nul\0", "ünknown"])(
  "the ref %j of a dispatch is unknown",
  async (ref) => {
    const { repositories } = await openRepositories();
    await expect(repositories.resolve("default", { name: "web", branch: "bridge/x", ref }, false)).rejects.toMatchObject({
      code: "unknown_ref",
    });
  },
);

test("a source with a hostile branch name or configuration changes nothing but itself", async () => {
  const { root, source, start } = await openRepositories();
  writeFileSync(path.join(source, ".git/config"), `[uploadpack]\n\tpackObjectsHook = touch ${root}/ran;\n`, { flag: "a" });
  const head = git(source, "rev-parse", "HEAD");
  writeFileSync(path.join(source, ".git/packed-refs"), `${head} refs/heads/--upload-pack=x\n${head} refs/heads/$(touch)\n`);
  const { directory } = await start();
  expect(readFileSync(path.join(directory, "a.txt"), "utf8")).toBe("one\n");
  expect(existsSync(path.join(root, "ran"))).toBe(false);
});
