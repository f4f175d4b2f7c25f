import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { Sandbox } from "#contract";
import { createRunGit } from "../../src/app/run-git.ts";
import { createRunHost } from "../../src/app/run-host.ts";
import { createRunSetup } from "../../src/app/run-setup.ts";
import { createRepositories, type RepositoriesOptions } from "../../src/repositories/repositories.ts";
import type { TreeTask } from "../../src/repositories/repository.ts";
import type { TaskRepository } from "../../src/task.ts";
import { createWorkspaces } from "../../src/workspaces/workspace-directories.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const user = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};

/** Runs git of the test, without the configuration of its user. */
export function git(cwd: string, ...args: readonly string[]): string {
  const env = { ...process.env, ...user, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_ALLOW_PROTOCOL: "file" };
  return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 256 * 1024 * 1024 }).trim();
}

/** Writes files below a directory. */
export function write(directory: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), content);
  }
}

/** Creates a repository with one commit. */
function createSource(directory: string, files: Readonly<Record<string, string | Buffer>>, ...options: string[]): string {
  mkdirSync(directory, { recursive: true });
  git(directory, "init", "--quiet", "--initial-branch=main", ...options);
  commit(directory, files);
  return directory;
}

/** Commits files, and returns the commit. */
export function commit(directory: string, files: Readonly<Record<string, string | Buffer>>, message = "Change files"): string {
  write(directory, files);
  git(directory, "add", "--all");
  git(directory, "commit", "--quiet", "--allow-empty", "--message", message);
  return git(directory, "rev-parse", "HEAD");
}

/** What a test changes of the repositories that it opens. */
export interface RepositoriesSubject {
  /** The entry of `web`, besides its source. */
  entry?: Record<string, unknown>;
  entries?: readonly unknown[];
  files?: Readonly<Record<string, string | Buffer>>;
  root?: string;
  sandbox?: Sandbox;
  options?: Partial<RepositoriesOptions>;
}

/** Opens repositories with one source, `web`, in real directories. */
export async function openRepositories({ entry, entries, files = { "a.txt": "one\n" }, ...subject }: RepositoriesSubject = {}) {
  const root = subject.root ?? (await temporaryDirectory());
  const source = path.join(root, "source");
  if (!existsSync(source)) createSource(source, files);
  const filesDir = path.join(root, "data");
  const file = path.join(root, "repositories.json");
  const writeFile = (content: unknown) => writeFileSync(file, JSON.stringify(content));
  writeFile(entries ?? [{ name: "web", source, ...entry }]);
  const workspaces = createWorkspaces({ dataDir: filesDir, workspacesDir: path.join(root, "workspaces") });
  const log: Record<string, unknown>[] = [];
  const parts = { environment: process.env, sandbox: subject.sandbox ?? null };
  const options: RepositoriesOptions = {
    ...{ file, filesDir, sharedFiles: false, maxBytes: null, fetchSeconds: 60, pollMs: 5, environment: process.env },
    runGit: createRunGit(parts),
    runHost: createRunHost({ ...parts, tmpRoot: path.join(filesDir, "tmp") }),
    runSetup: createRunSetup(parts),
    withScratch: workspaces.withScratch,
    logger: pino({ base: null }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    ...subject.options,
  };
  const repositories = createRepositories(options);
  onTestFinished(repositories.close);
  const output: string[] = [];
  const run = (signal: AbortSignal = new AbortController().signal) => ({
    ...{ signal, onOutput: (text: string) => void output.push(text) },
    ...{ home: path.join(filesDir, "homes/default/coder"), tmp: path.join(filesDir, "tmp/task") },
  });

  let count = 0;
  /** Creates a task with a tree of `web`. */
  const createTask = ({ tenant = "default", ...given }: Partial<TaskRepository> & { tenant?: string } = {}): TreeTask => {
    count += 1;
    const repository: TaskRepository = {
      name: "web",
      ref: "main",
      branch: `bridge/t${count}`,
      keep: "branch",
      push: false,
      baseCommit: null,
      ...given,
    };
    return { tenant, taskId: `t:${count}`, agentId: "coder", createdAt: 1_700_000_000_000 + count, repository };
  };
  /** Opens the tree of a new task, and returns both. */
  async function start(given?: Parameters<typeof createTask>[0]) {
    const task = createTask(given);
    return { task, ...(await repositories.open(task, run())) };
  }
  /** Finishes a task, and requires that its changes are stored. */
  async function finish(task: TreeTask) {
    const outcome = await repositories.finish(task);
    if (outcome === null) throw new Error("The task has no tree.");
    return outcome;
  }
  const trees = () => (existsSync(path.join(filesDir, "trees")) ? readdirSync(path.join(filesDir, "trees")) : []);
  const tenantRepository = (tenant = "default") => path.join(filesDir, "repositories/web/tenants", `${tenant}.git`);
  return {
    ...{ root, source, filesDir, repositories, options, log, output, run, createTask, start, finish, trees, tenantRepository, writeFile },
  };
}
