import { existsSync } from "node:fs";
import { COMMIT } from "../workspaces/start-commit.ts";
import { GitFault, type HostGit } from "./host-git.ts";

/** Maximum length of the name of a branch or a tag, because its file is at most as long as the system allows. */
const MAX_NAME = 200;

/** Whether a name can be that of a branch or a tag, by the rules of `git check-ref-format`. */
export const isReferenceName = (name: string): boolean =>
  name.length <= MAX_NAME &&
  name !== "@" &&
  !name.startsWith("-") &&
  !/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|\.$/u.test(name) &&
  name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));

/** Returns the commit that a full reference, `HEAD` or the id of a commit names in a repository; null if there is none. */
export async function findCommit(git: HostGit, repository: string, reference: string, signal?: AbortSignal): Promise<string | null> {
  if (!existsSync(repository)) return null;
  const argv = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${reference}^{commit}`];
  const commit = await ignoreFailure(git.store(repository, argv, { signal }));
  const text = commit?.toString().trim() ?? "";
  return COMMIT.test(text) ? text : null;
}

/** Lists references of a repository with a format of `git for-each-ref`. */
export async function listReferences(git: HostGit, repository: string, format: string, patterns: readonly string[]): Promise<string[]> {
  if (!existsSync(repository)) return [];
  const listed = await git.store(repository, ["for-each-ref", `--format=${format}`, "--", ...patterns], { stdoutBytes: MAX_LIST_BYTES });
  return listed
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}

/** Whether a reference of the repository contains a commit. */
export async function hasReferenceTo(git: HostGit, repository: string, commit: string): Promise<boolean> {
  if (!existsSync(repository)) return false;
  const found = await ignoreFailure(git.store(repository, ["for-each-ref", "--count=1", "--format=%(refname)", `--contains=${commit}`]));
  return (found?.length ?? 0) > 0;
}

/** A repository can have hundreds of thousands of references or files. */
export const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Changes references in one transaction, by the commands of `git update-ref --stdin`. Throws GitFault. */
export async function changeReferences(git: HostGit, repository: string, commands: readonly string[]): Promise<void> {
  if (commands.length === 0) return;
  await git.store(repository, ["update-ref", "--no-deref", "--stdin"], { input: `${commands.join("\n")}\n` });
}

/** Returns null if git reports a failure. Other errors, such as a timeout, are thrown. */
async function ignoreFailure<T>(running: Promise<T>): Promise<T | null> {
  try {
    return await running;
  } catch (error) {
    if (error instanceof GitFault && error.exitCode !== null) return null;
    throw error;
  }
}
