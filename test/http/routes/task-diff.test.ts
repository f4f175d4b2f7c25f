import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";

// The agent runs its message as a shell script in its workspace, so real processes write the files.
const agent = `const { message } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  require("node:child_process").execFileSync("/bin/sh", ["-c", message], { stdio: "inherit" });`;
let bridge: Bridge;
let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  bridge = await startBridge(
    { BRIDGE_WORKSPACES_DIR: path.join(root, "workspaces"), BRIDGE_COMMAND: JSON.stringify([process.execPath, "-e", agent]) },
    { adapters: [{ provider: "command", adapter: createCommandAdapter() }] },
  );
});
afterAll(async () => {
  await bridge.close();
  await rm(root, { recursive: true });
});

const workspaceOf = (agentId: string) => path.join(root, "workspaces/alpha", agentId);
const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b.c", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b.c" };
/** Runs git with the configuration of the directory, as a careless program would. Returns its output, also if it fails. */
const git = async (directory: string, ...args: string[]): Promise<string> => {
  const env = { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1", GIT_PAGER: "cat", ...identity };
  const { stdout } = await promisify(execFile)("git", ["-C", directory, ...args], { env }).catch((error: { stdout: string }) => error);
  return stdout.trim();
};

async function write(directory: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
    await writeFile(path.join(directory, name), content);
  }
}

/** Creates a repository with one commit. */
async function createRepository(directory: string, files: Record<string, string | Buffer>, ...options: string[]): Promise<string> {
  await mkdir(directory, { recursive: true });
  await git(directory, "init", "-q", ...options);
  await write(directory, files);
  await git(directory, "add", "-A");
  await git(directory, "commit", "-qm", "first");
  return git(directory, "rev-parse", "HEAD");
}

/** Runs a script as a task and waits for its end. The agent has the name of the task by default. */
async function run(taskId: string, message: string, fields: Record<string, unknown> = {}): Promise<void> {
  const { body } = await bridge.dispatch(
    { provider: "command", taskId, agentId: taskId, message, ...fields },
    { headers: { prefer: "wait=20" } },
  );
  expect(body.result).toMatchObject({ status: "ok" });
}

const getDiff = (taskId: string) => bridge.call("GET", `/api/v2/tasks/${taskId}/diff`);

/** Lists every file of a directory with its content. */
async function readTree(directory: string): Promise<[name: string, content: string][]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return Promise.all(files.sort().map(async (file) => [file, await readFile(file, "latin1")] as [string, string]));
}

test("the diff contains changed, new and deleted files and no ignored ones, also after the task has committed", async () => {
  const workspace = workspaceOf("writer");
  const commit = await createRepository(workspace, {
    "a.txt": "one\ntwo\n",
    "gone.txt": "x\n",
    ".gitignore": "*.log\n",
    bin: Buffer.from([0, 1]),
  });
  await write(workspace, { ".git/info/exclude": "private\n" });
  await run("writer", "echo three >> a.txt; rm gone.txt; echo new > ü.txt; echo l > x.log; echo p > private; printf '\\0\\2' > bin");
  const before = await readTree(workspace);
  const { status, headers, body } = await getDiff("writer");
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(body).toEqual({ commit, directory: "", diff: expect.any(String), diffBase64: null, truncated: null, omitted: [] });
  expect(body.diff.replaceAll(/^index .*\n/gm, "")).toBe(
    [
      ...["diff --git a/a.txt b/a.txt", "--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,3 @@", " one", " two", "+three"],
      ...["diff --git a/bin b/bin", "Binary files a/bin and b/bin differ"],
      ...["diff --git a/gone.txt b/gone.txt", "deleted file mode 100644", "--- a/gone.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-x"],
      ...["diff --git a/ü.txt b/ü.txt", "new file mode 100644", "--- /dev/null", "+++ b/ü.txt", "@@ -0,0 +1 @@", "+new", ""],
    ].join("\n"),
  );
  expect(await readTree(workspace)).toEqual(before);

  await git(workspace, "add", "-A");
  await git(workspace, "commit", "-qm", "second");
  expect((await getDiff("writer")).body).toEqual(body);
});

test("a later task is compared with the commit at its own start", async () => {
  const workspace = workspaceOf("team");
  await createRepository(workspace, { a: "1\n" });
  await run("early", "echo 2 > a", { agentId: "team" });
  await git(workspace, "commit", "-qam", "second");
  await run("late", "echo 3 > a", { agentId: "team" });
  expect((await getDiff("early")).body.diff).toContain("-1\n+3\n");
  expect((await getDiff("late")).body.diff).toContain("-2\n+3\n");
});

test("a task in a subdirectory is compared with the innermost repository, and a packed ref is found", async () => {
  const repository = path.join(workspaceOf("nested"), "code");
  const commit = await createRepository(repository, { "src/a": "1\n" });
  await git(repository, "pack-refs", "--all");
  await run("nested", "echo 2 > a; echo 3 > ../../outside", { metadata: { cwd: "code/src" } });
  expect((await getDiff("nested")).body).toMatchObject({
    commit,
    directory: "code",
    diff: expect.stringMatching(/^diff --git a\/src\/a b\/src\/a\n[\s\S]*\+2\n$/),
  });
});

test("a repository with SHA-256 object names has a diff", async () => {
  await createRepository(workspaceOf("sha256"), { a: "1\n" }, "--object-format=sha256");
  await run("sha256", "echo 2 > a");
  expect((await getDiff("sha256")).body).toMatchObject({
    commit: expect.stringMatching(/^[0-9a-f]{64}$/),
    diff: expect.stringContaining("-1\n+2\n"),
  });
});

describe("the reason is reported when there is no diff:", () => {
  const expectReason = async (taskId: string, reason: RegExp | string) => {
    const answer = await getDiff(taskId);
    expectProblem(answer, "invalid_state");
    expect(answer.body.detail).toMatch(reason);
  };

  test("a workspace without a repository, without a commit, or with a .git that is a file or a link", async () => {
    await run("plain", "echo 1 > a");
    await expectReason("plain", /recorded no commit/);
    await mkdir(workspaceOf("unborn"), { recursive: true });
    await git(workspaceOf("unborn"), "init", "-q");
    await run("unborn", "echo 1 > a");
    await expectReason("unborn", /recorded no commit/);

    const other = path.join(root, "other-repository");
    await createRepository(other, { secret: "s\n" });
    await write(workspaceOf("file"), { ".git": `gitdir: ${other}/.git\n` });
    await run("file", "echo 1 > a");
    await expectReason("file", /not a file or a link/);
    await mkdir(workspaceOf("link"), { recursive: true });
    await symlink(path.join(other, ".git"), path.join(workspaceOf("link"), ".git"));
    await run("link", "echo 1 > a");
    await expectReason("link", /not a file or a link/);
  });

  test("a task that has not started", async () => {
    await createRepository(workspaceOf("waiting"), { a: "1\n" });
    const held = { provider: "command", agentId: "waiting", message: `while [ ! -e '${root}/waiting-may-end' ]; do sleep 0.02; done` };
    // The slots of the adapter are fewer than these tasks.
    for (let index = 0; index < 40; index += 1) await bridge.dispatch({ ...held, taskId: `waiting-${index}` });
    try {
      await expectReason("waiting-39", /has not started/);
    } finally {
      await writeFile(path.join(root, "waiting-may-end"), "");
    }
  });

  test("a commit or a repository that is gone, and objects of another repository", async () => {
    await createRepository(workspaceOf("gone"), { a: "1\n" });
    await run("gone", "rm -rf .git && git init -q");
    await expectReason("gone", /The commit [0-9a-f]{40}, .* is not complete/);
    await rm(path.join(workspaceOf("gone"), ".git"), { recursive: true });
    await expectReason("gone", /no longer exists/);

    const other = path.join(root, "lending-repository");
    await createRepository(other, { secret: "s\n" });
    await createRepository(workspaceOf("borrowing"), { a: "1\n" });
    await run("borrowing", `echo '${other}/.git/objects' > .git/objects/info/alternates`);
    await expectReason("borrowing", /borrows objects/);
    await rename(path.join(workspaceOf("borrowing"), ".git/objects"), path.join(root, "moved-objects"));
    await symlink(path.join(other, ".git/objects"), path.join(workspaceOf("borrowing"), ".git/objects"));
    await expectReason("borrowing", /no longer exists/);
  });

  test.each([
    [".gitignore", "mkfifo .gitignore"],
    ["d/.gitattributes", "mkdir d; mkfifo d/.gitattributes"],
    [".gitmodules", "mkfifo .gitmodules"],
    ["nested/.git/HEAD", "git init -q nested; rm nested/.git/HEAD; mkfifo nested/.git/HEAD"],
    ["named/HEAD", "mkdir -p sub named/objects named/refs; mkfifo named/HEAD; echo 'gitdir: ../named' > sub/.git"],
    ["linked/config", "mkdir -p sub linked/objects linked/refs; mkfifo linked/config; ln -s ../linked sub/.git"],
    [".git/objects/pack/pack-1.idx", "mkfifo pipe .git/objects/pack/pack-1.idx"],
    [".git/objects/info/commit-graph", "mkfifo pipe; ln -s ../../../pipe .git/objects/info/commit-graph"],
  ])("a pipe for which git would wait: %s", async (name, script) => {
    const taskId = `pipe-${name.replaceAll(/[^a-z]+/gi, "-")}`;
    await createRepository(workspaceOf(taskId), { a: "1\n" });
    await run(taskId, script);
    await expectReason(
      taskId,
      `${name} in the work tree is neither a regular file nor a directory, so git could wait for it or read outside of the work tree.`,
    );
  });

  test("a host without git", async () => {
    const fields = { BRIDGE_WORKSPACES_DIR: path.join(root, "own"), BRIDGE_COMMAND: JSON.stringify([process.execPath, "-e", "0"]) };
    const without = await startBridge(fields, { adapters: [{ provider: "command", adapter: createCommandAdapter() }] });
    try {
      await createRepository(path.join(root, "own/alpha/a"), { a: "1\n" });
      await without.dispatch({ provider: "command", taskId: "t", agentId: "a", message: "go" }, { headers: { prefer: "wait=20" } });
      vi.stubEnv("PATH", await mkdtemp(path.join(root, "path-")));
      const answer = await without.call("GET", "/api/v2/tasks/t/diff");
      expectProblem(answer, "not_supported");
      expect(answer.body.detail).toMatch(/Install git/);
    } finally {
      vi.unstubAllEnvs();
      await without.close();
    }
  });
});

/** What an agent can write so that git runs a program: each row prepares a repository, and provokes the program with plain git. */
const attacks: [name: string, prepare: (workspace: string, program: string) => Promise<void>, provoke: string[]][] = [
  ["core.fsmonitor", async (ws, program) => void (await git(ws, "config", "core.fsmonitor", program)), ["status"]],
  ["diff.external", async (ws, program) => void (await git(ws, "config", "diff.external", program)), ["diff"]],
  [
    "an external diff driver",
    async (ws, program) => {
      await git(ws, "config", "diff.evil.command", program);
      await write(ws, { ".gitattributes": "* diff=evil\n" });
    },
    ["diff"],
  ],
  [
    "textconv",
    async (ws, program) => {
      await git(ws, "config", "diff.evil.textconv", program);
      await write(ws, { ".git/info/attributes": "* diff=evil\n" });
    },
    ["diff"],
  ],
  ...(["clean", "process"] as const).map((kind): (typeof attacks)[number] => [
    `a filter (${kind})`,
    async (ws, program) => {
      await git(ws, "config", `filter.evil.${kind}`, program);
      await write(ws, { ".gitattributes": "* filter=evil\n" });
    },
    ["diff"],
  ]),
  [
    "a hook in .git/hooks",
    async (ws, program) => {
      await mkdir(path.join(ws, ".git/hooks"), { recursive: true });
      await symlink(program, path.join(ws, ".git/hooks/post-index-change"));
    },
    ["add", "-A"],
  ],
  [
    "core.hooksPath",
    async (ws, program) => {
      await mkdir(path.join(ws, "hooks"));
      await symlink(program, path.join(ws, "hooks/post-index-change"));
      await git(ws, "config", "core.hooksPath", path.join(ws, "hooks"));
    },
    ["add", "-A"],
  ],
  [
    "an included configuration file",
    async (ws, program) => {
      await write(ws, { extra: `[core]\nfsmonitor = ${program}\n` });
      await git(ws, "config", "include.path", path.join(ws, "extra"));
    },
    ["status"],
  ],
  [
    "the configuration of a submodule",
    async (ws, program) => {
      await git(path.join(ws, "sub"), "config", "core.fsmonitor", program);
      await write(ws, { ".gitmodules": '[submodule "sub"]\npath = sub\nurl = ./sub\nignore = none\n', "sub/b": "2\n" });
    },
    ["diff"],
  ],
  [
    "a promised object of a remote",
    async (ws, program) => {
      const blob = await git(ws, "rev-parse", "HEAD:a");
      await rm(path.join(ws, ".git/objects", blob.slice(0, 2), blob.slice(2)));
      await git(ws, "config", "remote.evil.url", `ext::${program}`);
      await git(ws, "config", "remote.evil.promisor", "true");
      await git(ws, "config", "protocol.ext.allow", "always");
      await git(ws, "config", "core.repositoryFormatVersion", "1");
      await git(ws, "config", "extensions.partialClone", "evil");
    },
    ["diff"],
  ],
];

test.each(attacks)("git runs no program for %s", async (name, prepare, provoke) => {
  const agentId = `attack-${attacks.findIndex(([other]) => other === name)}`;
  const workspace = workspaceOf(agentId);
  await createRepository(path.join(workspace, "sub"), { b: "1\n" });
  await createRepository(workspace, { a: "1\n" });
  const marker = path.join(root, `${agentId}-executed`);
  const program = path.join(root, `${agentId}.sh`);
  await writeFile(program, `#!/bin/sh\n: > '${marker}'\n`);
  await chmod(program, 0o755);
  await run(agentId, "echo 2 > a");
  await prepare(workspace, program);

  // Proves that the preparation works.
  await git(workspace, ...provoke);
  expect(existsSync(marker)).toBe(true);
  await rm(marker);
  const { status, body } = await getDiff(agentId);
  expect([status, existsSync(marker)]).toEqual([200, false]);
  expect(body).toMatchObject(
    name.startsWith("a promised") ? { truncated: "unreadable" } : { diff: expect.stringContaining("-1\n+2\n"), truncated: null },
  );
});

test("core.worktree, a link and a git index of the task do not change what is compared", async () => {
  const workspace = workspaceOf("liar");
  const outside = path.join(root, "outside");
  await write(outside, { a: "secret of the host\n" });
  await createRepository(workspace, { a: "1\n", "d/b": "1\n", hidden: "1\n" });
  await run("liar", `echo 2 > hidden; git update-index --assume-unchanged hidden; ln -s '${outside}/a' new; rm -r d; ln -s '${outside}' d`);
  await git(workspace, "config", "core.worktree", outside);
  const { body } = await getDiff("liar");
  expect(body).toMatchObject({ truncated: null, diff: expect.stringContaining("-1\n+2\n") });
  expect(body.diff).toContain(`+${outside}/a`);
  expect(body.diff).not.toContain("secret of the host");
});

test("a diff whose files or names are not UTF-8 contains its exact bytes as base64", async () => {
  const workspace = workspaceOf("latin");
  await createRepository(workspace, { "a.txt": Buffer.from("K\xf6ln\n", "latin1") });
  await run("latin", "printf 'K\\366ln\\nM\\374nchen\\n' > a.txt; : > \"$(printf 'caf\\351')\"");
  const { body } = await getDiff("latin");
  expect(body.diff).toContain(" K\ufffdln\n+M\ufffdnchen\n");
  const bytes = Buffer.from(body.diffBase64, "base64").toString("latin1");
  expect(bytes).toContain(" K\xf6ln\n+M\xfcnchen\n");
  expect(bytes).toContain("diff --git a/caf\xe9 b/caf\xe9\nnew file");

  // 3 bytes for each character, of which the limit divides one.
  await createRepository(workspaceOf("divided"), { a: "1\n" });
  await run("divided", `yes '${"€".repeat(33)}' | head -c 3000000 > a`);
  const divided = (await getDiff("divided")).body;
  expect(divided).toMatchObject({ truncated: "bytes", diffBase64: null });
});

test("a long diff is cut, large files are not read, and pipes and empty repositories do not stop the diff", async () => {
  await createRepository(workspaceOf("large"), { a: "1\n", z: "1\n", ".gitignore": "*.iso\n" });
  await run("large", "truncate -s 1T ignored.iso; truncate -s 1T a; truncate -s 1T sparse; mkfifo pipe; git init -q empty; echo 2 > z");
  const { body } = await getDiff("large");
  expect(body).toMatchObject({
    truncated: null,
    omitted: ["a", "sparse"],
    diff: expect.stringMatching(/^diff --git a\/z b\/z\n[^+]*\+\+\+ b\/z\n@@ -1 \+1 @@\n-1\n\+2\n$/),
  });

  await createRepository(workspaceOf("long"), { a: "1\n" });
  await run("long", "head -c 3000000 /dev/zero | tr '\\0' 'x' | fold -w 99 > a");
  const long = (await getDiff("long")).body;
  expect(long.truncated).toBe("bytes");
  expect([long.diff.length <= 2 * 1024 * 1024, long.diff.length > 1024 * 1024]).toEqual([true, true]);

  await createRepository(workspaceOf("pipe"), { a: "1\n", b: "1\n" });
  await run("pipe", "echo 2 > a; rm b; mkfifo b");
  expect((await getDiff("pipe")).body).toMatchObject({ truncated: "unreadable", diff: expect.stringContaining("+2\n") });
});

test("diffs of several clients at the same time are all answered", async () => {
  await createRepository(workspaceOf("busy"), { a: "1\n" });
  await run("busy", "echo 2 > a");
  const answers = await Promise.all(Array.from({ length: 8 }, () => getDiff("busy")));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 200, body: { diff: expect.stringContaining("+2\n") } });
});
