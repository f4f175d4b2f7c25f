import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { CommandError } from "./command-error.ts";
import { type GitEnd, runGit } from "./git.ts";
import { showName } from "./show-hidden.ts";

/** Where the commits of a task are applied, and how they are named in errors. */
export interface CommitTarget {
  taskId: string;
  /** The root of the git work tree. */
  root: string;
  /** The commit from which the task started. */
  baseCommit: string | null;
  /** Only find out whether the commits apply. */
  isCheck: boolean;
}

/** What was applied, or would be. */
export interface AppliedCommits {
  headCommit: string;
  commits: number;
  files: string[];
}

/**
 * Applies patches of `git format-patch` as `git am --3way` does, and fast-forwards the work tree to the new commits. The patches are
 * applied in a temporary clone: so a conflict changes nothing in the work tree, and a link in it that git does not know leads nowhere.
 */
export async function applyCommits(patch: Uint8Array, target: CommitTarget): Promise<AppliedCommits> {
  const { root } = target;
  const from = (await demand(root, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], `${root} has no commit yet.`)).trim();
  const scratch = await mkdtemp(path.join(tmpdir(), "brg-apply-"));
  try {
    const clone = path.join(scratch, "clone");
    const committer = await findCommitter(root);
    const options = ["--quiet", "--shared", "--no-checkout", "--no-tags", "--template="];
    await demand(root, ["clone", ...options, ".", clone], `git cannot clone ${root}.`);
    const problem = `git cannot check out ${from.slice(0, 12)} in a temporary clone.`;
    await demand(clone, [...NO_HOOKS, "checkout", "--quiet", "--detach", from], problem);
    const applied = await runGit([...NO_HOOKS, "am", ...AM_OPTIONS], { cwd: clone, input: Buffer.from(patch), env: committer });
    if (applied.exitCode !== 0) throw await explainConflict(target, { clone, from, applied });
    const headCommit = (await demand(clone, ["rev-parse", "HEAD"])).trim();
    const names = await demand(clone, ["diff", "--name-only", "--no-renames", "-z", from, headCommit]);
    const commits = Number(await demand(clone, ["rev-list", "--count", `${from}..${headCommit}`]));
    await demand(root, ["fetch", "--quiet", "--no-write-fetch-head", "--no-tags", "--no-recurse-submodules", clone, "HEAD"]);
    await moveTo(headCommit, target);
    return { headCommit, commits, files: names.split("\0").filter((name) => name !== "") };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The hooks of the person are for the work tree, not for the temporary clone. LFS files stay pointers there. */
const NO_HOOKS = ["-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", "-c", "commit.gpgSign=false"];
/** The patches keep their line ends and their titles. */
const AM_OPTIONS = ["--quiet", "--3way", "--keep-cr", "--keep-non-patch", "--no-scissors"];

/** Returns the output of git. Throws with its message if it fails. */
async function demand(cwd: string, args: readonly string[], problem = `git ${args[0]} failed in ${cwd}.`): Promise<string> {
  const { exitCode, stdout, stderr } = await runGit(args, { cwd, env: { GIT_LFS_SKIP_SMUDGE: "1" } });
  if (exitCode === 0) return stdout.toString();
  throw new CommandError("failed", [problem, ...indent(stderr)].join("\n"));
}

/** Returns the identity of the person in this repository, which the temporary clone does not have. */
async function findCommitter(root: string): Promise<Record<string, string>> {
  const { exitCode, stdout } = await runGit(["var", "GIT_COMMITTER_IDENT"], { cwd: root });
  const [, name, email] = /^(.*) <(.*)> \d+ [+-]\d+\n$/.exec(stdout.toString()) ?? [];
  if (exitCode === 0 && name !== undefined && email !== undefined)
    return { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email, GIT_LFS_SKIP_SMUDGE: "1" };
  throw new CommandError("usage", "git does not know your name, which every commit contains.", {
    hint: 'Set it with: git config --global user.name "Your Name"; git config --global user.email you@example.com',
  });
}

/** Fast-forwards the work tree, or with `isCheck` only finds out whether git would do it. */
async function moveTo(headCommit: string, { taskId, root, isCheck }: CommitTarget): Promise<void> {
  // Files that only have a new time count as unchanged.
  await runGit(["update-index", "-q", "--refresh"], { cwd: root });
  const args = isCheck ? ["read-tree", "-m", "-u", "--dry-run", "HEAD", headCommit] : ["merge", "--quiet", "--ff-only", headCommit];
  const { exitCode, stderr } = await runGit(args, { cwd: root });
  if (exitCode === 0) return;
  const problem = `The commits of task "${taskId}" apply, but git cannot check them out in ${root}; nothing was changed.`;
  throw new CommandError("conflict", [problem, ...indent(stderr)].join("\n"), {
    hint: "Commit or stash your changes, and move untracked files away. Then run the command again.",
  });
}

async function explainConflict(
  { taskId, root, baseCommit }: CommitTarget,
  { clone, from, applied }: { clone: string; from: string; applied: GitEnd },
): Promise<CommandError> {
  const unmerged = (await demand(clone, ["diff", "--name-only", "--diff-filter=U", "-z"])).split("\0").filter((name) => name !== "");
  const isOther = baseCommit !== null && from !== baseCommit;
  const start = isOther
    ? ` The task started from the commit ${baseCommit.slice(0, 12)}, and here ${from.slice(0, 12)} is checked out.`
    : "";
  const reasons = unmerged.length > 0 ? unmerged.map((name) => `  conflict in ${showName(name)}`) : indent(applied.stderr);
  const problem = `The commits of task "${taskId}" do not apply to ${root}; nothing was changed.${start}`;
  return new CommandError("conflict", [problem, ...reasons].join("\n"), {
    hint: `${isOther ? "Check out that commit, or merge" : "Merge"} the changes without their commits: brg apply ${taskId} --3way`,
  });
}

/** Returns the messages of git as indented lines, because a name in them can contain a newline. */
const indent = (stderr: string): string[] =>
  stderr
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^(hint|warning): /.test(line))
    .map((line) => `  ${line.replace(/^(error|fatal): /, "")}`);
