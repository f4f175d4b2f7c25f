import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { holdDirectory, holdInside, removeInside, writeFileInside } from "@hak2i/nofollow-fs";
import {
  copyIndex,
  createIsolatedGit,
  createRepository,
  DIFF_OPTIONS,
  type GitEnd,
  type IsolatedGit,
  type RunGit,
  readExcludes,
} from "../workspaces/isolated-git.ts";
import { COMMIT, readHead } from "../workspaces/start-commit.ts";
import { INDEX_FILE, TREE_LIMITS } from "./create-tree.ts";
import { describeOutput, GitFault } from "./host-git.ts";
import type { EndedCommits } from "./tenant-commits.ts";
import type { TreeRecord } from "./tree-record.ts";

/** What a task has changed, in numbers. */
export interface ChangeCounts {
  commits: number;
  files: number;
  insertions: number;
  deletions: number;
}

/** The commits of a tree at its end. */
export interface CommittedTree extends EndedCommits {
  counts: ChangeCounts;
  /** Why some files are not in the last commit; null if all are. */
  fault: string | null;
}

/** Options of `commitTree`. */
export interface CommitOptions {
  /** The directory that contains the record, the copy of the index, and the tree. */
  directory: string;
  record: TreeRecord & { endedAt: number };
  /** The directories of objects that the tree borrows. */
  borrowed: readonly string[];
  runGit: RunGit;
  /** Whether the files become one commit on the base, without the commits and the objects of the task. */
  onlyFiles: boolean;
  /** An empty directory for this call. */
  scratch: string;
  signal: AbortSignal;
}

/** Other branches and stashes that are kept besides the head. */
const MAX_OTHERS = 200;
const MAX_STASHES = 100;
const MAX_SUBMODULES = 1000;
const EXCLUDE_BYTES = 64 * 1024;
/** The exit code with which git stops at once. */
const EXIT_FATAL = 128;
const EXIT_NOT_FOUND = 127;
/** The new name of repositories inside of a tree. */
const NESTED_PREFIX = ".git-of-task-";

/**
 * Commits what is not committed in a tree, and writes all new objects to a file. git reads the files and the objects of the tree, and no
 * configuration, index or hook of it. Throws GitFault.
 */
export async function commitTree(options: CommitOptions): Promise<CommittedTree> {
  const { directory, record, borrowed, runGit, onlyFiles, scratch, signal } = options;
  const tree = path.join(directory, record.repository.name);
  const ownGit = path.join(tree, ".git");
  const gitDirectory = path.join(scratch, "git");
  const date = `${Math.floor(record.endedAt / 1000)} +0000`;
  const isolated = createIsolatedGit({
    ...{ runGit, workspace: tree, workTree: tree, gitDirectory, scratch, signal, limits: TREE_LIMITS },
    variables: { ...BRIDGE_USER, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    settings: ["core.compression=1", "pack.threads=1", "pack.windowMemory=64m", "gc.auto=0"],
  });
  await makeReadable(tree, isolated);
  const hasOwnGit = await repairRepository(tree, borrowed);
  const usesOwnGit = hasOwnGit && !onlyFiles;
  const objects = usesOwnGit ? [path.join(ownGit, "objects"), ...borrowed] : borrowed;
  await createRepository(gitDirectory, {
    commit: record.baseCommit,
    alternates: objects,
    excludes: Buffer.concat([Buffer.from(`${NESTED_PREFIX}*\n`), Buffer.from(hasOwnGit ? readExcludes(tree, tree, EXCLUDE_BYTES) : "")]),
  });
  await copyIndex(path.join(directory, INDEX_FILE), path.join(gitDirectory, "index"));
  await removeObstacles(tree, isolated);
  const read = createReader(isolated);

  const parent = await findParent(usesOwnGit ? ownGit : null, record.baseCommit, isolated);
  // The copied index already matches the base.
  if (parent.commit !== record.baseCommit) await read(["read-tree", "--reset", parent.commit]);
  await releaseSubmodules(tree, scratch, isolated);
  const added = await addFiles(gitDirectory, isolated);
  const written = await read(["write-tree"]);
  const message = `Uncommitted changes of task ${record.taskId}`;
  const head = written === parent.tree ? parent.commit : await read(["commit-tree", "-p", parent.commit, "-m", message, written]);

  const found = usesOwnGit ? await findOthers(ownGit, scratch, { ...record, head }, { isolated, runGit, signal, objects }) : { others: [] };
  const counts = await countChanges(read, record.baseCommit, head);
  const pack = await writePack(scratch, { ...record, head, ...found, commits: counts.commits }, isolated);
  // git only warns of a directory that it cannot open.
  const isComplete = added.exitCode === 0 && !/could not open directory|Permission denied/.test(added.stderr);
  const fault = isComplete ? found.fault : `Some files could not be committed: ${describeOutput(added.stderr)}`;
  return { head, others: found.others, pack, counts, fault: fault ?? null };
}

const BRIDGE_USER = {
  ...{ GIT_AUTHOR_NAME: "Bridge", GIT_AUTHOR_EMAIL: "bridge@localhost" },
  ...{ GIT_COMMITTER_NAME: "Bridge", GIT_COMMITTER_EMAIL: "bridge@localhost" },
};

const createTimeout = (): GitFault => new GitFault(`git did not read the work tree within ${TREE_LIMITS.ms / 1000} s.`, null);

type Reader = (args: readonly string[]) => Promise<string>;

/** Creates the function that runs git and returns the text that it prints. Throws GitFault. */
const createReader =
  ({ git }: IsolatedGit): Reader =>
  async (args) =>
    requireOutput(await git(args)).trim();

/** Returns how a program ended by itself. A program that was killed has not done its work. */
function requireExit(end: GitEnd): GitEnd {
  if (end.aborted) throw createTimeout();
  if (end.exitCode === null && end.spawnError === null && end.limit === null)
    throw new GitFault("A program that stores the changes was killed.", null);
  return end;
}

function requireOutput(end: GitEnd): string {
  requireExit(end);
  if (end.exitCode !== 0 || end.limit !== null)
    throw new GitFault(describeOutput(end.stderr) || `git failed with exit code ${end.exitCode}.`, end.exitCode);
  return end.stdout.toString();
}

/** git stops at a file whose bytes are not in the encoding that an attribute names. Then it adds the files without this attribute. */
async function addFiles(gitDirectory: string, { git }: IsolatedGit): Promise<GitEnd> {
  const add = async (): Promise<GitEnd> => requireExit(await git(["add", "--all", "--ignore-errors", "--", "."]));
  const added = await add();
  if (added.exitCode !== EXIT_FATAL) return added;
  await writeFile(path.join(gitDirectory, "info/attributes"), "* !working-tree-encoding\n");
  return await add();
}

/** Changes a directory before find opens it, so each has its own chmod. `$0` is the tree. */
const MAKE_READABLE = String.raw`exec nice find "$0" -type d ! -perm -700 -exec chmod u+rwx {} \; -o -type f ! -perm -400 -exec chmod u+r {} +`;

/** Lets Bridge read files and directories from which a task has removed the permission. The new permissions are not part of commits. */
async function makeReadable(tree: string, { run }: IsolatedGit): Promise<void> {
  requireExit(await run(["/bin/sh", "-c", MAKE_READABLE, tree]));
}

/**
 * Returns whether a tree has its own repository, which a task can replace by a file or a link. Its objects must come from where Bridge has
 * let the task read, so the list of borrowed objects is written again.
 */
async function repairRepository(tree: string, borrowed: readonly string[]): Promise<boolean> {
  {
    using objects = holdInside(tree, [".git", "objects"]);
    if (objects === null) return false;
  }
  await replaceByDirectory(tree, [".git", "objects"], "info");
  using info = holdInside(tree, [".git", "objects", "info"]);
  if (info === null) throw new GitFault(".git/objects/info is not a directory.", null);
  await writeFileInside(info, "alternates", borrowed.map((name) => `${name}\n`).join(""), { obstacles: "remove" });
  return true;
}

/** Creates a directory in a directory of the tree, and replaces a file or a link of that name. */
async function replaceByDirectory(tree: string, parents: readonly string[], name: string): Promise<void> {
  using parent = holdInside(tree, parents);
  if (parent === null) return;
  using found = holdDirectory(`${parent.path}/${name}`);
  if (found !== null) return;
  await removeInside(parent, name);
  await mkdir(`${parent.path}/${name}`);
}

/**
 * Renames repositories inside of the tree, removes what is neither a file nor a directory from its own one, and prints one that remains.
 * find runs these programs in the directory of the file, and therefore refuses a PATH with a relative directory. `$0` is the tree, and `$1`
 * the new name.
 */
const REMOVE_OBSTACLES = String.raw`case ":$PATH:" in *:[!/]*) PATH=/usr/local/bin:/usr/bin:/bin;; esac
cd "$0" || exit
nice find . -mindepth 2 -name .git -prune -execdir mv -- {} "$1" \; -o -path './.git/*' ! -type f ! -type d -execdir rm -f -- {} \;
exec nice find . -mindepth 2 \( -name .git -o -path './.git/*' ! -type f ! -type d \) -print -quit`;

/**
 * Renames repositories inside of a tree, so that git adds their files instead of a reference to a commit that would be lost. Removes files
 * of the tree's repository for which git would wait, or through which it would read elsewhere. The names of files need not be UTF-8.
 */
async function removeObstacles(tree: string, { run }: IsolatedGit): Promise<void> {
  // Its exit code also reports directories that it cannot read, which git reports again.
  const end = requireExit(await run(["/bin/sh", "-c", REMOVE_OBSTACLES, tree, `${NESTED_PREFIX}${randomUUID()}`]));
  if (end.spawnError === null && end.exitCode !== EXIT_NOT_FOUND && end.stdout.length === 0) return;
  throw new GitFault(`Repositories inside of the work tree cannot be renamed: ${describeOutput(`${end.stdout}\n${end.stderr}`)}`, null);
}

/** Prints the submodules whose directories contain files, but no repository. `$0` is the tree, `$1` the list of submodules. */
const LIST_RELEASED = String.raw`exec <"$1"; cd "$0" && exec xargs -0 sh -c 'for name; do
if [ -L "$name" ] || [ ! -d "$name" ]; then continue; fi
case "/$(ls -A -- "$name" | tr "\n" /)" in / | */${NESTED_PREFIX}*) continue;; esac
printf "%s\0" "$name"
done' sh`;

/**
 * Removes submodules from the index if a task has written files into their directories, because git adds no file below a submodule. The
 * directory of a submodule that the task has initialized contains a repository. Such a submodule is not entered.
 */
async function releaseSubmodules(tree: string, scratch: string, { git, run }: IsolatedGit): Promise<void> {
  const list = path.join(scratch, "entries");
  requireOutput(await git(["ls-files", "--stage", "-z"], { from: "/dev/null", to: list }));
  const entries = (await readFile(list, "latin1")).split("\0").filter((entry) => entry.startsWith("160000 "));
  if (entries.length === 0) return;
  const names = entries.slice(0, MAX_SUBMODULES).map((entry) => `${entry.slice(entry.indexOf("\t") + 1)}\0`);
  await writeFile(list, names.join(""), "latin1");
  const { stdout } = requireExit(await run(["/bin/sh", "-c", LIST_RELEASED, tree, list]));
  if (stdout.length === 0) return;
  await writeFile(list, stdout);
  requireOutput(await git(["update-index", "--force-remove", "-z", "--stdin"], { from: list, to: "/dev/null" }));
}

/** Returns the commit of HEAD and its tree. If HEAD is broken, returns the base. */
async function findParent(ownGit: string | null, baseCommit: string, { git }: IsolatedGit): Promise<{ commit: string; tree: string }> {
  const findTree = async (commit: string): Promise<GitEnd> => requireExit(await git(["rev-parse", "--verify", `${commit}^{tree}`]));
  const head = ownGit === null ? null : readHead(ownGit);
  if (head !== null && head.length === baseCommit.length) {
    const { exitCode, stdout } = await findTree(head);
    if (exitCode === 0) return { commit: head, tree: stdout.toString().trim() };
  }
  return { commit: baseCommit, tree: requireOutput(await findTree(baseCommit)).trim() };
}

interface OthersOptions {
  isolated: IsolatedGit;
  runGit: RunGit;
  signal: AbortSignal;
  objects: readonly string[];
}

/** Returns the tips of branches and stashes of a tree that the head does not contain, or why they cannot be read. */
async function findOthers(
  ownGit: string,
  scratch: string,
  { baseCommit, head }: { baseCommit: string; head: string },
  { isolated, runGit, signal, objects }: OthersOptions,
): Promise<{ others: string[]; fault?: string }> {
  // A repository with references of the task, but without its configuration.
  const view = path.join(scratch, "view");
  await createRepository(view, { commit: baseCommit, alternates: objects });
  for (const name of ["refs", "logs", "packed-refs"]) {
    await removeInside(view, name);
    if (existsSync(path.join(ownGit, name))) await symlink(path.join(ownGit, name), path.join(view, name));
  }
  await mkdir(path.join(view, "refs"), { recursive: true });
  const workTree = path.dirname(ownGit);
  const { git } = createIsolatedGit({ runGit, workspace: workTree, workTree, gitDirectory: view, scratch, signal, limits: TREE_LIMITS });
  const listed = requireExit(await git(["for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash"]));
  // It fails if there is no stash.
  const stashes = requireExit(await git(["rev-list", "--walk-reflogs", `--max-count=${MAX_STASHES}`, "refs/stash", "--"]));
  if (listed.exitCode !== 0) return { others: [], fault: describeDamage(listed) };
  const found = `${listed.stdout}\n${stashes.stdout}`
    .split("\n")
    .filter((line) => COMMIT.test(line) && line !== head && line !== baseCommit);
  const tips = [...new Set(found)].slice(0, MAX_OTHERS);
  if (tips.length === 0) return { others: [] };
  const listing = requireExit(await isolated.git(["rev-list", "--ignore-missing", ...tips, `^${head}`, `^${baseCommit}`, "--"]));
  if (listing.exitCode !== 0 || listing.limit !== null) return { others: [], fault: describeDamage(listing) };
  const isNew = new Set(listing.stdout.toString().split("\n"));
  return { others: tips.filter((tip) => isNew.has(tip)) };
}

const describeDamage = ({ stderr }: GitEnd): string => `Other branches of the work tree could not be read: ${describeOutput(stderr)}`;

async function countChanges(read: Reader, base: string, head: string): Promise<ChangeCounts> {
  if (base === head) return { commits: 0, files: 0, insertions: 0, deletions: 0 };
  const commits = Number(await read(["rev-list", "--count", `${base}..${head}`]));
  const line = await read(["diff", "--shortstat", ...DIFF_OPTIONS, base, head]);
  const count = (pattern: RegExp): number => Number(pattern.exec(line)?.[1] ?? 0);
  return { commits, files: count(/(\d+) files? changed/), insertions: count(/(\d+) insertion/), deletions: count(/(\d+) deletion/) };
}

/** Writes the objects of all commits that are not part of the base to a file. Returns its path; null if there are none. */
async function writePack(
  scratch: string,
  { baseCommit, head, others, commits }: { baseCommit: string; head: string; others: readonly string[]; commits: number },
  { git }: IsolatedGit,
): Promise<string | null> {
  if (commits === 0 && others.length === 0) return null;
  const [from, to] = [path.join(scratch, "revisions"), path.join(scratch, "objects.pack")];
  await writeFile(from, [head, ...others, `^${baseCommit}`].map((line) => `${line}\n`).join(""));
  requireOutput(await git(["pack-objects", "--revs", "--thin", "--delta-base-offset", "--stdout", "-q"], { from, to }));
  return to;
}
