import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import path from "node:path";
import { createTurns } from "@hak2i/async-kit";
import { makePrivateDirectory, nullIfAbsent, removeInside } from "@hak2i/nofollow-fs";
import { createRepository } from "../workspaces/isolated-git.ts";
import { collectObjects } from "./collect-objects.ts";
import { describeOutput, GitFault, type HostGit } from "./host-git.ts";
import { DRAFT_PREFIX, type RepositoryPaths } from "./paths.ts";
import { changeReferences, findCommit, listReferences } from "./references.ts";
import type { TreeTask, TreeTaskState } from "./repository.ts";
import { keyOf, parseKey, referencesOf, removeTasks, TASKS, type TaskKey } from "./task-references.ts";

/** The commits of an ended tree. */
export interface EndedCommits {
  head: string;
  /** The commits of other branches and of stashes that are not part of the head. */
  others: readonly string[];
  /** The file that contains the new objects; null if there are none. */
  pack: string | null;
}

/** Objects of a task can be large, and git checks each of them. */
const STORE_MS = 600_000;
const SUFFIX = ".git";

export type TenantCommits = ReturnType<typeof createTenantCommits>;

/**
 * Creates the store of the commits of tasks. Each tenant has its own repository for each mirror, whose objects it borrows, so that no
 * tenant sees a commit of another one. A task has references below its own prefix: `base`, `head`, `other/…`, and `branch`, which is a
 * symbolic reference to the branch that is kept with it.
 */
export function createTenantCommits({ paths, git }: { paths: RepositoryPaths; git: HostGit }) {
  const turns = createTurns();
  const repositoryOf = ({ tenant, repository }: TreeTask): string => paths.tenantRepository(repository.name, tenant);

  async function ensureRepository(task: TreeTask, commit: string): Promise<string> {
    const repository = repositoryOf(task);
    if (existsSync(repository)) return repository;
    const directory = paths.tenantRepositories(task.repository.name);
    makePrivateDirectory(directory);
    const draft = `${DRAFT_PREFIX}${randomUUID()}`;
    // A relative path, so that the directory of files can move.
    await createRepository(path.join(directory, draft), { commit, bare: true, alternates: ["../../../source.git/objects"] });
    try {
      await rename(path.join(directory, draft), repository);
    } catch (error) {
      await removeInside(directory, draft);
      if (!existsSync(repository)) throw error;
    }
    return repository;
  }

  return {
    /** Keeps the base of a task, so that its objects stay. */
    async pinBase(task: TreeTask, commit: string): Promise<void> {
      const repository = await ensureRepository(task, commit);
      await changeReferences(git, repository, [`update ${referencesOf(task)}/base ${commit}`]);
    },
    /** Stores the commits of an ended task. Returns why its branch could not be stored; null if it was. Throws GitFault. */
    async store(
      task: TreeTask & { baseCommit: string },
      { head, others, pack }: EndedCommits,
      signal: AbortSignal,
    ): Promise<string | null> {
      const repository = await ensureRepository(task, task.baseCommit);
      const references = referencesOf(task);
      return await turns.take(repository, async () => {
        if (pack !== null) await addObjects(git, repository, pack, { base: task.baseCommit, tips: [head, ...others], signal });
        const update = [
          // Set at the start, too. A repository that was deleted meanwhile is new.
          `update ${references}/base ${task.baseCommit}`,
          `update ${references}/head ${head}`,
          ...others.map((commit, index) => `update ${references}/other/${index} ${commit}`),
        ];
        if (task.repository.keep !== "branch") {
          await changeReferences(git, repository, update);
          return null;
        }
        const branch = `refs/heads/${task.repository.branch}`;
        const place = await findPlace(git, repository, task, head);
        if ("fault" in place) {
          await changeReferences(git, repository, update);
          return place.fault;
        }
        await git.store(repository, ["symbolic-ref", `${references}/branch`, branch]);
        try {
          await changeReferences(git, repository, [...update, `update ${branch} ${head} ${place.old ?? "0".repeat(head.length)}`]);
          return null;
        } catch (error) {
          if (!(error instanceof GitFault)) throw error;
          await changeReferences(git, repository, update);
          return `The branch ${task.repository.branch} could not be stored: ${describeOutput(error.message)}`;
        }
      });
    },
    /** Removes everything that is stored of a task. */
    forget: async (task: TreeTask): Promise<void> => void (await removeTasks(git, repositoryOf(task), ({ key }) => key === keyOf(task))),
    /** Returns the base and the head of an ended task; null for what is not stored. */
    async rangeOf(task: TreeTask, signal: AbortSignal): Promise<{ repository: string; base: string | null; head: string | null }> {
      const repository = repositoryOf(task);
      const find = (name: string) => findCommit(git, repository, `${referencesOf(task)}/${name}`, signal);
      return { repository, base: await find("base"), head: await find("head") };
    },
    /** Returns the head of a kept branch; null if nothing is kept of it. */
    findBranch: (name: string, tenant: string, branch: string, signal?: AbortSignal): Promise<string | null> =>
      findCommit(git, paths.tenantRepository(name, tenant), `refs/heads/${branch}`, signal),
    /** Returns a kept branch whose name git cannot store together with this one, such as `fix` and `fix/login`; null if there is none. */
    findConflictingBranch: (name: string, tenant: string, branch: string): Promise<string | null> =>
      findConflictingBranch(git, paths.tenantRepository(name, tenant), branch),
    /** Removes the references of tasks that are not stored any more, with their branches, and then the objects that nothing refers to. */
    async removeUnknown(name: string, stateOf: (task: TaskKey) => Promise<TreeTaskState>, signal: AbortSignal): Promise<void> {
      const names = (await nullIfAbsent(readdir(paths.tenantRepositories(name)))) ?? [];
      for (const entry of names.filter((found) => found.endsWith(SUFFIX))) {
        const tenant = entry.slice(0, -SUFFIX.length);
        const repository = paths.tenantRepository(name, tenant);
        const isUnknown = async ({ task }: { task: Omit<TaskKey, "tenant"> }) => (await stateOf({ ...task, tenant })) === "unknown";
        const hasRemoved = await turns.take(repository, () => removeTasks(git, repository, isUnknown), signal);
        // Not in a turn, because it can take long, and tasks that end must not wait for it.
        await collectObjects(git, repository, hasRemoved, signal);
      }
    },
  };
}

/** Adds the objects of a file, which a task has written: checks each of them, and that no other one is missing. */
async function addObjects(
  git: HostGit,
  repository: string,
  pack: string,
  { base, tips, signal }: { base: string; tips: readonly string[]; signal: AbortSignal },
): Promise<void> {
  await git.store(repository, ["index-pack", "--stdin", "--fix-thin", "--strict"], { signal, ms: STORE_MS, inputFile: pack });
  await git.store(repository, ["rev-list", "--objects", "--quiet", ...tips, "--not", base], { signal, ms: STORE_MS });
}

/** Returns where the branch of a task is, null if there is none, or why the task cannot move it: another task has continued it. */
async function findPlace(
  git: HostGit,
  repository: string,
  task: TreeTask,
  head: string,
): Promise<{ old: string | null } | { fault: string }> {
  const branch = `refs/heads/${task.repository.branch}`;
  const old = await findCommit(git, repository, branch);
  if (old === null || old === head || old === task.repository.baseCommit) return { old };
  const ends = await listReferences(git, repository, "%(refname) %(symref)", [TASKS]);
  const own = await findCommit(git, repository, `${referencesOf(task)}/head`);
  if (old === own) return { old };
  // A task that did not continue the branch has reserved it, so an earlier task that has left it was deleted.
  const isLater = (line: string): boolean => line.endsWith(` ${branch}`) && parseKey(line.slice(TASKS.length)).createdAt > task.createdAt;
  if (task.repository.continuesBranch !== true && !ends.some(isLater)) return { old };
  const fault = `The branch ${task.repository.branch} has moved to ${old}, because another task has continued it. The commits of this task are stored without a branch: read its patch.`;
  return { fault };
}

async function findConflictingBranch(git: HostGit, repository: string, branch: string): Promise<string | null> {
  const parts = branch.split("/");
  const parents = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
  const patterns = [...parents, branch].map((parent) => `refs/heads/${parent}`);
  const kept = await listReferences(git, repository, "%(refname:lstrip=2)", patterns);
  return kept.find((other) => parents.includes(other) || other.startsWith(`${branch}/`)) ?? null;
}
