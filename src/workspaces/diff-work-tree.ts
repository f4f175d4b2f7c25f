import { isUtf8 } from "node:buffer";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { holdInside } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";
import { skippedDirectories } from "../requests/workspace-path.ts";
import { copyIndex, createIsolatedGit, createRepository, DIFF_OPTIONS, type GitEnd, type RunGit, readExcludes } from "./isolated-git.ts";
import { type WalkedFiles, walkFiles } from "./walk-files.ts";

/** Limits of a diff. git reads files that a task wrote, so each of them can be large or take long to compare. */
export const DIFF_LIMITS = {
  bytes: 2 * 1024 * 1024,
  ms: 20_000,
  /** Larger files are omitted, because git reads every file that it compares. */
  fileBytes: 4 * 1024 * 1024,
  /** Maximum large files that are omitted, which are arguments of git. */
  omittedFiles: 200,
  omittedBytes: 64 * 1024,
  /** Address space of git, in KiB. */
  memoryKib: 1024 * 1024,
  excludeBytes: 64 * 1024,
} as const;

/** Reasons why a diff is not complete: it is too long, it took too long, or git could not read a file or an object. */
export const diffCuts = ["bytes", "time", "unreadable"] as const;
export type DiffCut = (typeof diffCuts)[number];

/** Options of `diffWorkTree`. */
export interface DiffOptions {
  /** The real path of the workspace. */
  workspace: string;
  /** The directory that contains `.git`, relative to the workspace; empty for the workspace itself. */
  directory: string;
  commit: string;
  /** An index of the commit, by which git finds the files that have changed without reading the others. Default: none. */
  index?: string;
  /** An empty directory for this call. */
  scratch: string;
  runGit: RunGit;
  signal: AbortSignal;
  limits?: { [Name in keyof typeof DIFF_LIMITS]?: number };
}

/**
 * Compares a work tree with a commit, including untracked files that are not ignored. A task may have written everything in the work tree,
 * so git gets a separate repository: with the objects of the work tree, but with no configuration, hook, index or reference of it.
 * Therefore nothing in the work tree can name a program that git runs, and nothing in the work tree changes.
 */
export async function diffWorkTree({ workspace, directory, commit, index, scratch, runGit, signal, ...options }: DiffOptions) {
  const workTree = path.join(workspace, directory);
  const limits = { ...DIFF_LIMITS, ...options.limits };
  const gitDirectory = path.join(scratch, "git");
  const excludes = readExcludes(workspace, workTree, limits.excludeBytes);
  await createRepository(gitDirectory, { commit, excludes, alternates: [path.join(workTree, ".git/objects")] });
  const { run, git, deadline } = createIsolatedGit({ runGit, workspace, workTree, gitDirectory, scratch, limits, signal });

  const found = await run(["/bin/sh", "-c", LIST_OBSTACLES, workTree]);
  if (found.aborted) throw createTimeout(limits.ms);
  const obstacle = findObstacle(found);
  if (obstacle !== undefined)
    throw new BridgeError(
      "invalid_state",
      `${obstacle.replace(/^\.\//, "")} in the work tree is neither a regular file nor a directory, so git could wait for it or read outside of the work tree. Remove it.`,
    );
  if (index !== undefined) await copyIndex(index, path.join(gitDirectory, "index"));
  const read = await git(["read-tree", "--reset", commit]);
  if (read.aborted) throw createTimeout(limits.ms);
  if (read.exitCode !== 0)
    throw new BridgeError("invalid_state", `The commit ${commit}, at which the task started, is not complete in the repository any more.`);
  // Reports an error for a pipe or an empty repository, and adds the other files.
  const added = await git(["add", "--intent-to-add", "--ignore-removal", "--ignore-errors", "--", "."]);
  if (added.aborted) throw createTimeout(limits.ms);
  const omitted = await listKnown(await findLargeFiles({ workspace, directory }, limits, deadline), git);
  // git refreshes its index after a diff, which reads every changed file once more. Without the lock, it skips that.
  await writeFile(path.join(gitDirectory, "index.lock"), "");

  const end = await git(["diff", ...DIFF_OPTIONS, "--", ".", ...omitted.map((name) => `:(exclude,literal)${name}`)]);
  const truncated = explainCut(end);
  return { diff: end.stdout.toString(), diffBase64: encodeUnlessText(end.stdout, truncated), truncated, omitted };
}

/** Returns the diff as base64, unless its text contains exactly the same bytes. */
export function encodeUnlessText(diff: Buffer, truncated: DiffCut | null): string | null {
  // A limit can divide the last character.
  const decided = truncated === null ? diff : diff.subarray(0, diff.lastIndexOf("\n") + 1);
  return isUtf8(decided) ? null : diff.toString("base64");
}

/** Returns the paths of the large files of a work tree, relative to it. Follows no links, because this is outside of the sandbox. */
async function findLargeFiles(
  { workspace, directory }: { workspace: string; directory: string },
  limits: { fileBytes: number; omittedFiles: number; omittedBytes: number },
  signal: AbortSignal,
): Promise<string[]> {
  using root = holdInside(
    workspace,
    directory.split(path.sep).filter((name) => name !== ""),
  );
  const found: string[] = [];
  for (let after: string | null = null; root !== null; ) {
    const isWanted = ({ bytes }: { bytes: number }) => bytes > limits.fileBytes;
    const page: WalkedFiles = await walkFiles(root, { after, limit: limits.omittedFiles, skip: skippedDirectories, isWanted });
    found.push(...page.files.map((file) => file.path));
    after = page.next;
    if (after === null || found.length >= limits.omittedFiles || signal.aborted) break;
  }
  let bytes = 0;
  return found.slice(0, limits.omittedFiles).filter((name) => {
    bytes += Buffer.byteLength(name);
    return bytes <= limits.omittedBytes;
  });
}

/** Returns those of the files that are in the index, so that ignored files are not listed. */
async function listKnown(files: readonly string[], git: (args: readonly string[]) => Promise<GitEnd>): Promise<string[]> {
  if (files.length === 0) return [];
  const { stdout } = await git(["ls-files", "-z", "--", ...files.map((name) => `:(literal)${name}`)]);
  // A name can contain a newline, so the names end with NUL.
  return stdout
    .toString()
    .split("\0")
    .filter((name) => name !== "");
}

/**
 * Prints pipes and devices, and what is neither a file nor a directory in the objects. Then prints each `.git` below the work tree that
 * names another directory as a repository, with a slash at its end. `$0` is the work tree. A host without `find` has no such check.
 */
const LIST_OBSTACLES = String.raw`cd "$0" && exec nice find . \( -type p -o -type c -o -type b -o -path './.git/objects/*' ! -type f ! -type d \) -print0 \
  -o -path './*/.git' ! -type d -exec printf '%s/\0' {} + 2>/dev/null`;

/**
 * Returns a file for which git would wait, because git opens it by its name: a pipe, or a link to one. git itself skips all other pipes,
 * unless they can belong to a repository that a `.git` names.
 */
function findObstacle({ stdout, limit }: GitEnd): string | undefined {
  const names = stdout.toString().split("\0").slice(0, -1);
  // After a limit, the list is not complete.
  const isAnyOpened = limit !== null || names.some((name) => name.endsWith("/"));
  return names.find((name) => !name.endsWith("/") && (isAnyOpened || /\/\.git([^/]*$|\/)/.test(name)));
}

/** Returns why the output of git is not complete; null if it is. */
export function explainCut({ limit, aborted, exitCode }: GitEnd): DiffCut | null {
  if (limit !== null) return "bytes";
  if (aborted) return "time";
  return exitCode === 0 ? null : "unreadable";
}

const createTimeout = (ms: number): BridgeError =>
  new BridgeError(
    "invalid_state",
    `git did not read the work tree within ${ms / 1000} s. The repository is too large for a diff, or git waits for a pipe in it.`,
  );
