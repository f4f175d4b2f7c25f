import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { createRunGit } from "../../src/app/run-git.ts";
import type { RunGit } from "../../src/workspaces/isolated-git.ts";
import { createTaskDiffs } from "../../src/workspaces/task-diffs.ts";
import { createWorkspaces } from "../../src/workspaces/workspace-directories.ts";
import { directoryOutsideTmp, openSandbox } from "./open-sandbox.ts";

/** The tree without files, which git knows without any object. */
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const SECRET = "secret of another tenant";

const write = (file: string, content: string): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
};

// A task can replace the directories of its workspace at any time, also between two calls of git.
test.each([0, 1, 2])("a work tree that becomes a link shows no other tenant's files, at call %i of git", async (at) => {
  const dataDir = directoryOutsideTmp();
  const workspacesDir = path.join(dataDir, "workspaces");
  const [workspace, other] = [path.join(workspacesDir, "tenant/agent"), path.join(workspacesDir, "other/agent")];
  write(path.join(other, "secret.txt"), SECRET);
  write(path.join(other, "large.txt"), "x".repeat(5 * 1024 * 1024));
  write(path.join(other, ".git/info/exclude"), SECRET);
  write(path.join(workspace, "repo/.git/HEAD"), `${EMPTY_TREE}\n`);
  mkdirSync(path.join(workspace, "repo/.git/objects"));
  const sandbox = await openSandbox({ hidden: [dataDir, workspacesDir] });
  const workspaces = createWorkspaces({ dataDir, filesDir: dataDir, workspacesDir });
  const task = {
    seq: 1,
    tenant: "tenant",
    taskId: "t",
    agentId: "agent",
    parentTaskId: null,
    provider: "command",
    createdAt: 1,
    startedAt: 1,
  };
  workspaces.prepare(task, "repo");
  const realRunGit = createRunGit({ environment: process.env, sandbox });
  let calls = 0;
  const runGit: RunGit = (options) => {
    if (calls === at) {
      renameSync(path.join(workspace, "repo"), path.join(workspace, "old"));
      symlinkSync(other, path.join(workspace, "repo"));
    }
    calls += 1;
    return realRunGit(options);
  };
  const store = { findTaskProgress: async () => task } as unknown as Parameters<typeof createTaskDiffs>[0]["store"];
  const diffs = createTaskDiffs({ store, workspaces, runGit });
  const answer = await diffs.read("tenant", "t", { reserve: async () => {}, signal: new AbortController().signal }).then(
    (diff) => JSON.stringify(diff),
    (error: Error) => error.message,
  );
  expect(calls).toBeGreaterThan(at);
  expect(answer).not.toContain(SECRET);
  expect(answer).not.toContain("large.txt");
  // Without the change, the same calls read the work tree.
  execFileSync("/bin/sh", ["-c", "rm repo && mv old repo && echo mine > repo/mine.txt"], { cwd: workspace });
  expect(
    (
      await createTaskDiffs({ store, workspaces, runGit: realRunGit }).read("tenant", "t", {
        reserve: async () => {},
        signal: new AbortController().signal,
      })
    ).diff,
  ).toContain("+mine");
});
