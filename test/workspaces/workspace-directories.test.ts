import { existsSync } from "node:fs";
import { mkdir, readdir, realpath, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { readAgentFile, readPromptFiles } from "../../src/workspaces/prompt-files.ts";
import { createWorkspaces, resolveDirectoryInside, resolveFileInside } from "../../src/workspaces/workspace-directories.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

async function workspaceWithLinks() {
  const root = await temporaryDirectory();
  const workspace = path.join(root, "ws");
  await mkdir(path.join(workspace, "inner"), { recursive: true });
  await mkdir(path.join(root, "ws-sibling"));
  await symlink(root, path.join(workspace, "out"));
  await symlink(path.join(workspace, "inner"), path.join(workspace, "in"));
  await writeFile(path.join(workspace, "file"), "");
  return { root, workspace };
}

test.each([
  ["inner", true],
  [".", true],
  ["inner/..", true],
  ["in", true],
  ["missing", false],
  ["file", false],
  ["..", false],
  ["../ws-sibling", false],
  ["out", false],
  ["out/ws-sibling", false],
  ["/etc", false],
  ["inner\0", false],
])("metadata.cwd %j is accepted: %s", async (relative, accepted) => {
  const { workspace } = await workspaceWithLinks();
  if (accepted) expect(resolveDirectoryInside(workspace, relative).startsWith(workspace)).toBe(true);
  else
    expect(() => resolveDirectoryInside(workspace, relative)).toThrow(
      expect.objectContaining({ code: "invalid_request", errors: [expect.objectContaining({ path: "metadata.cwd" })] }),
    );
});

test.each([
  ["report.md", true],
  ["new/deep/report.md", true],
  ["in/report.md", true],
  [".", false],
  ["../x", false],
  ["../ws-sibling/x", false],
  ["out/x", false],
  ["/etc/passwd", false],
])("a file output %j is accepted: %s", async (relative, accepted) => {
  const { workspace } = await workspaceWithLinks();
  if (accepted) expect(resolveFileInside(workspace, relative)).toBe(path.join(workspace, relative));
  else
    expect(() => resolveFileInside(workspace, relative)).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ path: "outputStrategy.path" })] }),
    );
});

test("a task gets private directories, and its TMPDIR is removed with its end", async () => {
  const dataDir = await temporaryDirectory();
  const workspaces = createWorkspaces({ dataDir, workspacesDir: path.join(dataDir, "workspaces") });
  const task = { createdAt: 1, seq: 1, tenant: "acme", taskId: "t:1", parentTaskId: null, agentId: "writer", provider: "command" };
  const directories = workspaces.prepare(task, undefined);
  expect(directories.workspace).toBe(path.join(dataDir, "workspaces/acme/writer"));
  expect(directories.cwd).toBe(directories.workspace);
  expect(directories.home.startsWith(`${directories.tmp}/`)).toBe(false);
  for (const directory of [directories.workspace, directories.home]) expect((await stat(directory)).mode & 0o777).toBe(0o700);
  // The directory is created when a process is started, so a task without a process has none.
  await expect(stat(directories.tmp)).rejects.toThrow("ENOENT");
  await mkdir(directories.tmp, { recursive: true });
  await writeFile(path.join(directories.tmp, "left"), "");
  await workspaces.release(task);
  await expect(stat(directories.tmp)).rejects.toThrow("ENOENT");
  await stat(directories.home);
});

test.each([0o000, 0o077, 0o277, 0o777])(
  "whatever the umask, here %s, all that is made on the way is private and can be used",
  async (mask) => {
    const dataDir = await temporaryDirectory();
    const workspacesDir = path.join(dataDir, "far/away/workspaces");
    const workspaces = createWorkspaces({ dataDir: path.join(dataDir, "data"), workspacesDir });
    const before = process.umask(mask);
    try {
      workspaces.prepare(
        { createdAt: 1, seq: 1, tenant: "acme", taskId: "t", parentTaskId: null, agentId: "writer", provider: "command" },
        undefined,
      );
    } finally {
      process.umask(before);
    }
    for (const made of ["far", "far/away", "far/away/workspaces", "far/away/workspaces/acme", "far/away/workspaces/acme/writer", "data"])
      expect((await stat(path.join(dataDir, made))).mode & 0o777, made).toBe(0o700);
    expect((await stat(path.join(dataDir, "data/homes/acme/writer"))).mode & 0o777).toBe(0o700);
  },
);

test("the workspaces directory and a workspace may be links, and modes set by an operator are kept", async () => {
  const dataDir = await temporaryDirectory();
  await mkdir(path.join(dataDir, "elsewhere"));
  await mkdir(path.join(dataDir, "shared/inner"), { recursive: true, mode: 0o750 });
  await symlink(path.join(dataDir, "elsewhere"), path.join(dataDir, "workspaces"));
  const workspaces = createWorkspaces({ dataDir, workspacesDir: path.join(dataDir, "workspaces") });
  const task = { createdAt: 1, seq: 1, tenant: "acme", taskId: "t", parentTaskId: null, agentId: "writer", provider: "command" };
  workspaces.prepare(task, undefined);
  expect((await stat(path.join(dataDir, "elsewhere/acme/writer"))).mode & 0o777).toBe(0o700);
  await symlink(path.join(dataDir, "shared"), path.join(dataDir, "elsewhere/acme/linked"));
  const { cwd } = workspaces.prepare({ ...task, agentId: "linked" }, "inner");
  expect(cwd).toBe(path.join(await realpath(dataDir), "shared/inner"));
  expect((await stat(path.join(dataDir, "shared"))).mode & 0o777).toBe(0o750);
});

test("directories of two tenants are never the same", async () => {
  const dataDir = await temporaryDirectory();
  const workspaces = createWorkspaces({ dataDir, workspacesDir: path.join(dataDir, "workspaces") });
  const of = (tenant: string) =>
    Object.values(
      workspaces.prepare({ createdAt: 1, seq: 1, tenant, taskId: "t", parentTaskId: null, agentId: "a", provider: "p" }, undefined),
    );
  const [a, b] = [of("a"), of("b")];
  expect(a.filter((directory) => b.includes(directory))).toEqual([]);
});

test("prompt files are read in order, and not through a link out of the workspace", async () => {
  const { root, workspace } = await workspaceWithLinks();
  await writeFile(path.join(workspace, "TOOLS.md"), "tools");
  await writeFile(path.join(workspace, "SOUL.md"), "soul");
  expect(readPromptFiles(workspace)).toEqual(["soul", "tools"]);
  await writeFile(path.join(root, "secret"), "secret");
  await symlink(path.join(root, "secret"), path.join(workspace, "AGENTS.md"));
  expect(() => readPromptFiles(workspace)).toThrow("AGENTS.md leads out of the workspace through a link");
});

test("agent.json sets defaults, and cannot extend the permissions of a task", async () => {
  const { workspace } = await workspaceWithLinks();
  expect(readAgentFile(workspace)).toEqual({});
  const file = {
    systemPrompt: "s",
    model: "m",
    provider: "p",
    timeoutSeconds: 5,
    tools: [{ name: "t", input_schema: {} }],
    profile: "modify",
    approvals: "allow",
    mcpServers: [{}],
  };
  await writeFile(path.join(workspace, "agent.json"), JSON.stringify(file));
  expect(readAgentFile(workspace)).toEqual({
    systemPrompt: "s",
    model: "m",
    provider: "p",
    timeoutSeconds: 5,
    tools: [{ name: "t", description: "", inputSchema: {} }],
  });
});

test.each([
  ["not JSON", "{", "is not valid JSON at position 1 (line 1 column 2)"],
  ["a wrong type", '{"timeoutSeconds": "5"}', "timeoutSeconds"],
])("an agent.json that is %s is reported", async (_, text, words) => {
  const { workspace } = await workspaceWithLinks();
  await writeFile(path.join(workspace, "agent.json"), text);
  expect(() => readAgentFile(workspace)).toThrow(words);
});

test("the prompt files and agent.json of an agent may begin with a byte order mark", async () => {
  const { workspace } = await workspaceWithLinks();
  await writeFile(path.join(workspace, "agent.json"), '\uFEFF{"model":"m"}');
  await writeFile(path.join(workspace, "TOOLS.md"), "\uFEFFTools.");
  expect(readAgentFile(workspace)).toEqual({ model: "m" });
  expect(readPromptFiles(workspace).at(-1)).toBe("Tools.");
});

test("a temporary directory that a crash left behind is renamed before it is removed, also after another crash", async () => {
  const dataDir = await temporaryDirectory();
  const workspaces = createWorkspaces({ dataDir, workspacesDir: path.join(dataDir, "workspaces") });
  const { tmp } = workspaces.prepare(
    { tenant: "default", taskId: "t", agentId: "a" } as Parameters<typeof workspaces.prepare>[0],
    undefined,
  );
  await mkdir(tmp, { recursive: true });
  await writeFile(path.join(tmp, "left"), "x");

  await workspaces.setAsideLeftovers();
  expect(existsSync(tmp)).toBe(false);
  await mkdir(tmp);
  await writeFile(path.join(tmp, "new"), "x");
  const remove = await workspaces.setAsideLeftovers();
  await mkdir(tmp);
  expect(await remove()).toEqual([]);
  expect(await readdir(path.dirname(tmp))).toEqual([path.basename(tmp)]);
});
