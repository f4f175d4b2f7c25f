import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { accessTo, program, runCli } from "./start-cli.ts";

// The agent runs its message as a shell script in its workspace, so real programs change the files.
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

const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b.c", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b.c" };
const git = async (cwd: string, ...args: string[]): Promise<string> => (await execa("git", args, { cwd, env: identity })).stdout;

/** Runs a script as a task in a repository, and returns a clone of the repository from before the task. */
async function changeRepository(taskId: string, script: string, files: Record<string, string | Buffer> = {}): Promise<string> {
  const workspace = path.join(root, "workspaces/alpha", taskId);
  await mkdir(path.join(workspace, "docs"), { recursive: true });
  await writeFile(path.join(workspace, "a.txt"), "one\ntwo\nthree\n");
  await writeFile(path.join(workspace, "docs/b.txt"), "old\n");
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(workspace, name), content);
  await git(workspace, "init", "-q");
  await git(workspace, "add", "-A");
  await git(workspace, "commit", "-qm", "first");
  const clone = path.join(await temporaryDirectory(), "clone");
  await git(workspace, "clone", "-q", ".", clone);
  const { body } = await bridge.dispatch(
    { provider: "command", taskId, agentId: taskId, message: script, profile: "modify" },
    { headers: { prefer: "wait=20" } },
  );
  expect(body.result).toMatchObject({ status: "ok" });
  return clone;
}

const apply = (cwd: string, ...args: string[]) => runCli(["apply", ...args], { cwd, env: accessTo(bridge) });
const read = (...parts: string[]) => readFile(path.join(...parts), "utf8");

test("brg apply changes, adds and deletes the files that the task changed, from any directory of the work tree", async () => {
  const clone = await changeRepository("edit-1", "sed -i s/two/TWO/ a.txt; rm docs/b.txt; mkdir new; echo hi > 'new/a b.txt'");
  expect(await apply(clone, "edit-1", "--check")).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("applies to") });
  expect(await git(clone, "status", "--short")).toBe("");
  const { exitCode, stdout, stderr } = await apply(path.join(clone, "docs"), "edit-1");
  expect({ exitCode, stdout: stdout.split("\n").toSorted() }).toEqual({ exitCode: 0, stdout: ["a.txt", "docs/b.txt", "new/a b.txt"] });
  expect(stderr).toBe(`Applied to 3 file(s) in ${clone}.`);
  expect([await read(clone, "a.txt"), await read(clone, "new/a b.txt"), existsSync(path.join(clone, "docs/b.txt"))]).toEqual([
    ...["one\nTWO\nthree\n", "hi\n", false],
  ]);
});

test("brg apply takes a whole id for no beginning of another one, and completes a generated id", async () => {
  const generated = "7d0f4a52-3c1b-4e9a-8f60-2b1c9d8e7f6a";
  const clone = await changeRepository("fix-70", "echo wrong > a.txt");
  expect(await apply(clone, "fix-7")).toMatchObject({ exitCode: 5, stdout: "", stderr: expect.stringContaining("whole id: fix-70") });
  expect(await git(clone, "status", "--short")).toBe("");
  const other = await changeRepository(generated, "echo right > a.txt");
  const { exitCode, stdout } = await apply(other, generated.slice(0, 8), "--json");
  expect([exitCode, JSON.parse(stdout).taskId, await read(other, "a.txt")]).toEqual([0, generated, "right\n"]);
});

test("brg apply changes nothing if a line differs, names the reason, and merges with --3way", async () => {
  const clone = await changeRepository("edit-2", "sed -i s/two/TWO/ a.txt; echo new > docs/b.txt");
  await writeFile(path.join(clone, "a.txt"), "zero\none\n2\nthree\n");
  await git(clone, "commit", "-qam", "second");
  const rejected = await apply(clone, "edit-2");
  expect(rejected).toMatchObject({
    exitCode: 6,
    stderr: expect.stringMatching(/nothing was changed\. The task started from the commit \w{12}, and here \w{12}/),
  });
  expect(rejected.stderr).toMatch(/a\.txt: patch does not apply\n.*brg apply edit-2 --3way$/s);
  expect([await git(clone, "status", "--short"), await read(clone, "docs/b.txt")]).toEqual(["", "old\n"]);

  const merged = await apply(clone, "edit-2", "--3way");
  expect(merged).toMatchObject({ exitCode: 6, stderr: expect.stringContaining("Resolve the conflict in a.txt") });
  expect(await read(clone, "a.txt")).toMatch(/<<<<<<<(?:.|\n)*2\n=======\nTWO\n>>>>>>>/);
  expect(await read(clone, "docs/b.txt")).toBe("new\n");
});

test("brg apply --3way merges changes of other lines without a conflict", async () => {
  const clone = await changeRepository("edit-3", "printf 'one\\ntwo\\nTHREE\\n' > a.txt");
  await writeFile(path.join(clone, "a.txt"), "zero\none\ntwo\nthree\n");
  await git(clone, "commit", "-qam", "second");
  expect(await apply(clone, "edit-3", "--3way")).toMatchObject({ exitCode: 0 });
  expect(await read(clone, "a.txt")).toBe("zero\none\ntwo\nTHREE\n");
});

test("brg apply refuses binary changes, and its hint applies the rest", async () => {
  const clone = await changeRepository("binary-1", "printf '\\0\\1' > logo.png; echo new > docs/b.txt");
  const { exitCode, stderr } = await apply(clone, "binary-1");
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringContaining("binary files: logo.png.\nGet the files with: brg files binary-1 <path>"),
  });
  const [, options = ""] = /git apply (--exclude=\S+)$/.exec(stderr) ?? [];
  const { stdout: diff } = await runCli(["diff", "binary-1"], { env: accessTo(bridge) });
  await execa("/bin/sh", ["-c", `git apply ${options}`], { cwd: clone, input: `${diff}\n` });
  expect(await read(clone, "docs/b.txt")).toBe("new\n");
});

/** Bytes that a text cannot carry, or that programs like to change. */
const contents: [name: string, before: Buffer | string, after: Buffer | string][] = [
  ["latin-1.txt", Buffer.from("Gr\xfc\xdfe\nK\xf6ln\nend\n", "latin1"), Buffer.from("Gr\xfc\xdfe\nM\xfcnchen\nend\n", "latin1")],
  ["latin-1-context.txt", Buffer.from("na\xefve\n1\n", "latin1"), Buffer.from("na\xefve\n2\n", "latin1")],
  ["gbk.txt", Buffer.from("c4e3bac30a", "hex"), Buffer.from("c4e3bac30acac0bde70a", "hex")],
  ["continuation.txt", "a\n", Buffer.from("61800aff0ac30a", "hex")],
  ["crlf.txt", "one\r\ntwo\r\n", "one\r\nTWO\r\n"],
  ["carriage-return.txt", "one\rtwo\n", "one\rTWO\u2028\u2029\u0085\n"],
  ["no-newline.txt", "one", "two"],
  ["marker.txt", "a\n", "hello\rBinary files a/x and b/z\u001b]0;\u0007 differ\n"],
  ["bom.txt", "\ufeffone\n", "\ufeffTWO\n"],
  ["replacement.txt", "\ufffd\n", "\ufffd\ufffd\n"],
];

test("brg apply writes the same bytes as the task, whatever their encoding", async () => {
  const after = Object.fromEntries(contents.map(([name, , content]) => [name, Buffer.from(content)]));
  const script = Object.entries(after).map(([name, bytes]) => `echo ${bytes.toString("base64")} | base64 -d > ${name}`);
  // Names of Latin-1, and a name with a newline.
  const names = "printf n > \"$(printf 'caf\\351 1.txt')\"; mkdir \"$(printf 'd\\377')\"; printf m > \"$(printf 'd\\377/a\\nb')\"";
  const clone = await changeRepository("bytes-1", `${script.join("; ")}; ${names}`, Object.fromEntries(contents));
  const workspace = path.join(root, "workspaces/alpha/bytes-1");
  const { exitCode, stderr } = await apply(clone, "bytes-1");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining("Applied to 12 file(s)") });
  expect(await hashTree(clone)).toEqual(await hashTree(workspace));

  const second = path.join(await temporaryDirectory(), "clone");
  await git(workspace, "clone", "-q", ".", second);
  await execa("/bin/sh", ["-c", `'${process.execPath}' '${program}' diff bytes-1 | git apply`], { cwd: second, env: accessTo(bridge) });
  expect(await hashTree(second)).toEqual(await hashTree(workspace));
});

test("brg apply refuses UTF-16, which is binary for git", async () => {
  const clone = await changeRepository("utf-16", "printf '\\377\\376a\\0' > u.txt; echo new > docs/b.txt");
  expect(await apply(clone, "utf-16")).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("binary files: u.txt.") });
  expect(await git(clone, "status", "--short")).toBe("");
});

test("a name that the agent has chosen is never a part of a command that brg apply prints", async () => {
  const clone = await changeRepository(
    "names-1",
    "printf '\\0' > \"x'; curl evil; '\"; printf '\\0' > '*'; printf '\\0' > \"$(printf 'a\\nb\\033c')\"",
  );
  const { stderr } = await apply(clone, "names-1");
  expect(stderr.split("\n")).toEqual([
    "bridge: The diff of task \"names-1\" is not applied: it does not contain the content of binary files: *, a␊b␛c, x'; curl evil; '.",
    "Get the files with: brg files names-1 <path>",
  ]);
});

/** Returns the hash and the name of each file, as the bytes of lines. */
async function hashTree(directory: string): Promise<string> {
  const script = "find . -name .git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum -z";
  const { stdout } = await execa("/bin/sh", ["-c", script], { cwd: directory, encoding: "latin1" });
  return stdout;
}

test("brg apply refuses an incomplete diff", async () => {
  const clone = await changeRepository("large-1", "seq 1000000 > numbers.txt; sed -i s/two/TWO/ a.txt");
  const { exitCode, stderr } = await apply(clone, "large-1");
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/(its end is missing \(bytes\)|omits files that are too large: numbers\.txt)\.(?:.|\n)*brg files large-1 <path>/);
  expect(await git(clone, "status", "--short")).toBe("");
});

test("brg apply reports a task that changed nothing, one that does not exist, and a directory without a work tree", async () => {
  const clone = await changeRepository("idle-1", "true");
  expect(await apply(clone, "idle-1")).toEqual({ exitCode: 0, stdout: "", stderr: "The task changed nothing." });
  expect(await apply(clone, "no-such-task")).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('Task "no-such-task"') });
  expect(await apply(await temporaryDirectory(), "idle-1")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("is not in a git work tree"),
  });
});

test.each<[string, string]>([
  ["outside of the work tree", "../outside.txt"],
  ["in the directory of git", ".git/hooks/post-checkout"],
  ["beyond a link", "link/outside.txt"],
])("brg apply never writes %s, whatever the server sends", async (_, name) => {
  const clone = path.join(await temporaryDirectory(), "clone");
  await mkdir(clone);
  await git(clone, "init", "-q");
  await symlink("..", path.join(clone, "link"));
  const diff = `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+evil\n`;
  const commit = hash("sha1", "any");
  const server = await startReceiver((response) =>
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ commit, directory: "", diff, truncated: null, omitted: [] })),
  );
  for (const mode of [[], ["--3way"]]) {
    const { exitCode, stderr } = await runCli(["apply", "x", ...mode], {
      cwd: clone,
      env: { BRIDGE_URL: server.origin, BRIDGE_TOKEN: "any" },
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 6, stderr: expect.stringMatching(/invalid path|beyond a symbolic link/) });
  }
  expect([existsSync(path.join(clone, "../outside.txt")), existsSync(path.join(clone, ".git/hooks/post-checkout"))]).toEqual([
    false,
    false,
  ]);
  await server.close();
});
