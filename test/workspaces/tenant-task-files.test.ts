import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { link, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Task } from "../../src/task.ts";
import { createTaskFiles } from "../../src/workspaces/tenant-task-files.ts";
import { storedTask } from "../support/stored-task.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Creates a workspace with a file, and returns the files of tasks that ran at other times than its last change. */
async function plant(...names: string[]) {
  const directory = await temporaryDirectory();
  const workspace = path.join(directory, "acme/writer");
  for (const name of names) {
    await mkdir(path.dirname(path.join(workspace, name)), { recursive: true });
    await writeFile(path.join(workspace, name), `content of ${name}`);
  }
  const changedAt = Math.floor((await stat(path.join(workspace, names[0] ?? ""))).ctimeMs);
  const filesOf = (fields: Partial<Pick<Task, "startedAt" | "finishedAt">>) => {
    const task = storedTask({ tenant: "acme", agentId: "writer", ...fields });
    const store = {
      findTaskProgress: async (tenant: string, taskId: string) =>
        tenant === "acme" && taskId === "t1" ? { ...task, metadata: null } : null,
      readTaskStatuses: async () => new Map(),
    };
    return createTaskFiles({ store, workspaces: { workspaceOf: (tenant, agentId) => path.join(directory, tenant, agentId) } });
  };
  const list = async (fields: Parameters<typeof filesOf>[0]) =>
    (await filesOf(fields).list("acme", "t1", { after: null, limit: 50 })).files.map((file) => file.path);
  const read = async (fields: Parameters<typeof filesOf>[0], name: string) => {
    const { handle } = await filesOf(fields).open("acme", "t1", name);
    return handle.readFile("utf8").finally(() => handle.close());
  };
  return { workspace, changedAt, filesOf, list, read };
}

describe("a file belongs to a task depending on its last change,", () => {
  test.each([
    ["long before it started", { startedAt: 11, finishedAt: 20 }, "The task has no file at this path."],
    ["just before it started, by the clock of files", { startedAt: 10, finishedAt: 20 }, null],
    ["when it started", { startedAt: 0, finishedAt: 20 }, null],
    ["while it ran", { startedAt: -1000, finishedAt: 1000 }, null],
    ["in the millisecond in which it ended", { startedAt: -1000, finishedAt: 0 }, null],
    ["after it had ended", { startedAt: -1000, finishedAt: -1 }, "The file was changed after the end of the task."],
    ["and it runs still", { startedAt: -1000, finishedAt: null }, null],
    ["before a task that waits", { startedAt: null, finishedAt: null }, "The task has no file at this path."],
    ["before a task that was cancelled in the queue", { startedAt: null, finishedAt: 1000 }, "The task has no file at this path."],
  ])("%s: %j", async (_, relative, refusal) => {
    const { changedAt, list, read } = await plant("report.md");
    const at = (time: number | null) => (time === null ? null : changedAt + time);
    const fields = { startedAt: at(relative.startedAt), finishedAt: at(relative.finishedAt) };
    expect(await list(fields)).toEqual(refusal === null ? ["report.md"] : []);
    if (refusal === null) expect(await read(fields, "report.md")).toBe("content of report.md");
    else await expect(read(fields, "report.md")).rejects.toMatchObject({ code: "not_found", message: refusal });
  });
});

const always = { startedAt: 1, finishedAt: null };

test("files in .git and node_modules are neither listed nor served", async () => {
  const { list, read } = await plant(".git/config", "sub/node_modules/x/index.js", ".gitignore", ".env", "sub/.hidden", "node_modules.md");
  expect(await list(always)).toEqual([".env", ".gitignore", "node_modules.md", "sub/.hidden"]);
  for (const name of [".git/config", "sub/node_modules/x/index.js"])
    await expect(read(always, name)).rejects.toMatchObject({ code: "not_found" });
});

test.each([
  "",
  ".",
  "..",
  "/",
  "/report.md",
  "report.md/",
  "./report.md",
  "sub//file",
  "sub/../report.md",
  "../writer/report.md",
  "../../acme/writer/report.md",
  "..\\writer\\report.md",
  "sub",
  "report.md\0",
  "report.md\0.txt",
  "%72eport.md",
  "REPORT.MD ",
  "link",
  "link/file",
  "hard",
  "a/".repeat(100),
  "x".repeat(300),
  "x".repeat(5000),
  "\ud800",
])("the invalid path %# is not found", async (name) => {
  const { workspace, read } = await plant("report.md", "sub/file");
  await symlink("sub", path.join(workspace, "link"));
  await link(path.join(workspace, "sub/file"), path.join(workspace, "hard"));
  expect(await read(always, "report.md")).toBe("content of report.md");
  await expect(read(always, name)).rejects.toMatchObject({ code: "not_found", message: "The task has no file at this path." });
});

test("tasks of other tenants and unknown tasks are not found, and a task without a workspace has no files", async () => {
  const { filesOf, workspace } = await plant("report.md");
  const taskFiles = filesOf(always);
  const page = { after: null, limit: 50 };
  for (const [tenant, taskId] of [
    ["other", "t1"],
    ["acme", "t2"],
  ] as const) {
    await expect(taskFiles.list(tenant, taskId, page)).rejects.toMatchObject({
      code: "not_found",
      message: "There is no such task.",
    });
    await expect(taskFiles.open(tenant, taskId, "report.md")).rejects.toMatchObject({
      code: "not_found",
      message: "There is no such task.",
    });
  }
  const elsewhere = createTaskFiles({
    store: { findTaskProgress: async () => ({ ...storedTask(always), metadata: null }), readTaskStatuses: async () => new Map() },
    workspaces: { workspaceOf: () => path.join(workspace, "missing") },
  });
  expect(await elsewhere.list("acme", "t1", page)).toEqual({ files: [], next: null, truncated: false });
  await expect(elsewhere.open("acme", "t1", "report.md")).rejects.toMatchObject({ code: "not_found" });
});

test.runIf(existsSync("/proc/self/fd"))("concurrent lists of a tenant are read sequentially", async () => {
  const { workspace, changedAt, filesOf } = await plant(...Array.from({ length: 50 }, (_, index) => `file-${index}`));
  const taskFiles = filesOf({ startedAt: changedAt - 60_000, finishedAt: changedAt + 60_000 });
  let isOver = false;
  const lists = Promise.all(Array.from({ length: 20 }, () => taskFiles.list("acme", "t1", { after: null, limit: 200 })));
  const answers = lists.finally(() => {
    isOver = true;
  });
  let mostHeld = 0;
  while (!isOver) {
    mostHeld = Math.max(mostHeld, countOpen(workspace));
    await new Promise(setImmediate);
  }
  expect((await answers).map(({ files }) => files.length)).toEqual(Array(20).fill(50));
  expect(mostHeld).toBeGreaterThan(0);
  // The open directory, and its listing.
  expect(mostHeld).toBeLessThanOrEqual(2);
});

/** Counts the open descriptors of a directory in this process. */
const countOpen = (directory: string): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === directory;
    } catch {
      return false;
    }
  }).length;
