import type { HostGit } from "./host-git.ts";
import { changeReferences, listReferences } from "./references.ts";
import type { TreeTask } from "./repository.ts";

/** What identifies a task in a repository. */
export type TaskKey = Pick<TreeTask, "tenant" | "taskId" | "createdAt">;

/** The prefix of the references of tasks. */
export const TASKS = "refs/bridge/";

/** Removes the references of tasks, and the branches that were kept with them. Returns whether there were any. */
export async function removeTasks(
  git: HostGit,
  repository: string,
  isRemoved: (found: { key: string; task: Omit<TaskKey, "tenant"> }) => boolean | Promise<boolean>,
): Promise<boolean> {
  const listed = await listReferences(git, repository, "%(refname) %(symref)", [TASKS]);
  const references = listed.map((line) => {
    const [name = "", branch = ""] = line.split(" ");
    return { name, branch, key: name.slice(TASKS.length).split("/")[0] ?? "" };
  });
  const removed = new Set<string>();
  for (const key of new Set(references.map((reference) => reference.key)))
    if (await isRemoved({ key, task: parseKey(key) })) removed.add(key);
  // A later task can have continued a branch.
  const keptBranches = new Set(references.flatMap(({ key, branch }) => (removed.has(key) ? [] : [branch])));
  const names = references.flatMap(({ key, name, branch }) =>
    removed.has(key) ? [name, ...(keptBranches.has(branch) ? [] : [branch])] : [],
  );
  await changeReferences(
    git,
    repository,
    [...new Set(names)].filter((name) => name !== "").map((name) => `delete ${name}`),
  );
  return names.length > 0;
}

/**
 * Returns the name of a task in references. The id can be longer than the name of a file after other encodings, and its colon is not
 * allowed in references.
 */
export const keyOf = ({ taskId, createdAt }: TaskKey): string => `${createdAt}-${Buffer.from(taskId).toString("base64url")}`;

/** Returns the task of a key. */
export function parseKey(key: string): Omit<TaskKey, "tenant"> {
  const end = key.indexOf("-");
  return { createdAt: Number(key.slice(0, end)), taskId: Buffer.from(key.slice(end + 1), "base64url").toString() };
}

/** Returns the prefix of the references of a task, without a slash at its end. */
export const referencesOf = (task: TaskKey): string => `${TASKS}${keyOf(task)}`;
