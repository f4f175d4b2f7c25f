import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { makePrivateDirectory, removeInside } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";
import { copyIndex, createIsolatedGit, createRepository, type RunGit } from "../workspaces/isolated-git.ts";
import { describeOutput, type HostGit } from "./host-git.ts";
import { DRAFT_PREFIX, type RepositoryPaths } from "./paths.ts";
import { listReferences } from "./references.ts";
import { type TreeRecord, writeRecord } from "./tree-record.ts";

/** Limits of git in a tree. A checkout of 100,000 files takes seconds, but minutes on a busy machine. */
export const TREE_LIMITS = {
  bytes: 16 * 1024 * 1024,
  ms: 600_000,
  memoryKib: 4 * 1024 * 1024,
  /** Larger files are not compressed against others, and not compared line by line. */
  fileBytes: 4 * 1024 * 1024,
} as const;

/** Bridge reads `packed-refs` of a tree in one piece, at its end. With more references, the tree gets only its own branch. */
const MAX_REFERENCE_BYTES = 512 * 1024;
/** The copy of the index after the checkout, by which the end finds the files that have changed. */
export const INDEX_FILE = "index";

/** Options of `createTree`. */
export interface NewTree {
  paths: RepositoryPaths;
  git: HostGit;
  runGit: RunGit;
  withScratch<T>(act: (scratch: string) => Promise<T>): Promise<T>;
  /** Drafts of this process, which no sweep removes. */
  drafts: Set<string>;
  /** The name of the directory below `trees`. */
  key: string;
  record: TreeRecord;
  signal: AbortSignal;
}

/** Checks out the base of a task in a new repository. The directory gets its name when it is complete. Throws BridgeError. */
export async function createTree({ paths, key, record, drafts, ...parts }: NewTree): Promise<void> {
  makePrivateDirectory(paths.trees);
  const draft = `${DRAFT_PREFIX}${randomUUID()}`;
  drafts.add(draft);
  try {
    const directory = path.join(paths.trees, draft);
    const tree = path.join(directory, record.repository.name);
    makePrivateDirectory(tree);
    await writeRecord(directory, record);
    await createTreeRepository(path.join(tree, ".git"), { paths, git: parts.git, record });
    await checkOut(tree, record, { ...parts, paths });
    await copyIndex(path.join(tree, ".git/index"), path.join(directory, INDEX_FILE));
    await rename(directory, path.join(paths.trees, key));
  } finally {
    drafts.delete(draft);
    await removeInside(paths.trees, draft);
  }
}

/**
 * Creates the repository of a tree: a separate one, so that nothing that a task does in it changes another repository. It has the branches
 * of the source as remote branches, but no remote.
 */
async function createTreeRepository(
  gitDirectory: string,
  { paths, git, record: { repository, tenant, agentId, baseCommit } }: Pick<NewTree, "paths" | "git" | "record">,
): Promise<void> {
  const branch = `refs/heads/${repository.branch}`;
  await createRepository(gitDirectory, {
    commit: baseCommit,
    head: branch,
    // Without a name, git makes no commit, and the home of an agent contains none.
    config: `[user]\n\tname = "${agentId}"\n\temail = bridge@localhost\n`,
    alternates: paths.borrowedObjects(repository.name, tenant),
  });
  await mkdir(path.dirname(path.join(gitDirectory, branch)), { recursive: true });
  await writeFile(path.join(gitDirectory, branch), `${baseCommit}\n`);
  const references = await listReferences(git, paths.mirror(repository.name), "%(objectname) %(refname)", ["refs/heads", "refs/tags"]);
  const lines = references.map((line) => `${line.replace(" refs/heads/", " refs/remotes/origin/")}\n`).join("");
  if (Buffer.byteLength(lines) <= MAX_REFERENCE_BYTES) await writeFile(path.join(gitDirectory, "packed-refs"), lines);
}

/** Writes the files of the base. Filters of the repository do not run, so files in Git LFS stay pointers. */
async function checkOut(
  tree: string,
  { repository, baseCommit }: TreeRecord,
  { paths, runGit, withScratch, signal }: Pick<NewTree, "paths" | "runGit" | "withScratch" | "signal">,
): Promise<void> {
  await withScratch(async (scratch) => {
    const { git } = createIsolatedGit({
      ...{ runGit, scratch, signal, workspace: tree, workTree: tree, gitDirectory: path.join(tree, ".git"), limits: TREE_LIMITS },
      settings: ["checkout.workers=0"],
    });
    const { exitCode, aborted, stderr } = await git(["read-tree", "--reset", "-u", baseCommit]);
    if (exitCode === 0) return;
    const reason = aborted ? `git did not end within ${TREE_LIMITS.ms / 1000} s` : describeOutput(stderr);
    throw new BridgeError("invalid_state", `The commit ${baseCommit} of ${repository.name} cannot be checked out: ${paths.hide(reason)}`);
  });
}
