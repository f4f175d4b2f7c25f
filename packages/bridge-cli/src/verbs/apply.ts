import { lstatSync } from "node:fs";
import type { TaskDiff } from "bridge-client";
import { type AppliedCommits, applyCommits, type CommitTarget } from "../apply-commits.ts";
import { CommandError } from "../command-error.ts";
import { diffBytes } from "../diff-bytes.ts";
import { exitCodes } from "../exit-codes.ts";
import { type GitEnd, runGit } from "../git.ts";
import type { Output } from "../output.ts";
import { showName } from "../show-hidden.ts";
import type { Run } from "../verb.ts";
import { withTaskId } from "../with-task-id.ts";

interface Options {
  /** Only find out whether the diff applies. */
  check?: boolean;
  /** Merge instead of requiring that the lines are unchanged. */
  "3way"?: boolean;
}

/**
 * Applies the changes of a task to the git work tree of the current directory: its commits, if it ran in its own work tree, and otherwise
 * its diff. Changes nothing unless all of it applies.
 */
export const run: Run<Options> = async ({ args: [given = ""], options, output, signal, connect }) => {
  const root = await findWorkTree();
  const { client } = connect();
  const { taskId, repository } = await withTaskId(given, { client, signal, hasEffect: true }, async (id) => ({
    taskId: id,
    repository: (await client.getTask(id, { signal })).repository,
  }));
  const isMerge = options["3way"] === true;
  // An earlier version of Bridge sends no repository.
  if (repository !== null && repository !== undefined && !isMerge) {
    const patch = await client.files.patch(taskId, { signal });
    const target = { taskId, root, baseCommit: repository.baseCommit, isCheck: options.check === true };
    reportCommits(output, target, patch.length === 0 ? null : await applyCommits(patch, target));
    return undefined;
  }
  const result = await client.files.diff(taskId, { signal });
  const diff = diffBytes(result);
  const changes = await listChanges(root, diff);
  rejectIncomplete(taskId, result, changes);
  if (diff.length === 0) {
    report(output, { taskId, root, files: [], applied: false }, "The task changed nothing.");
    return undefined;
  }
  for (const { path: bytes } of changes) rejectPathBeyondLink(root, bytes);
  const files = changes.map(({ name }) => name);
  // A merge leaves conflict markers, so it is never the first attempt.
  const checked = isMerge ? null : await apply(root, ["--check"], diff);
  if (checked !== null && checked.exitCode !== 0) throw await explainFailure(taskId, root, result, checked);
  if (options.check === true) {
    report(output, { taskId, root, files, applied: false }, `The diff of ${files.length} file(s) applies to ${root}.`);
    return undefined;
  }
  const applied = await apply(root, isMerge ? ["--3way"] : [], diff);
  const conflicts = files.filter((name) => `\n${applied.stderr}`.includes(`\nU ${name}\n`));
  if (conflicts.length > 0) {
    report(output, { taskId, root, files, applied: true, conflicts }, "The diff was merged, with conflicts.");
    for (const name of conflicts) output.warn(`Resolve the conflict in ${showName(name)}, then run: git add`);
    return exitCodes.conflict;
  }
  if (applied.exitCode !== 0) throw await explainFailure(taskId, root, result, applied);
  report(output, { taskId, root, files, applied: true }, `Applied to ${files.length} file(s) in ${root}.`);
  return undefined;
};

/** Returns the root of the work tree. In a directory below it, git would ignore the files outside of this directory. */
async function findWorkTree(): Promise<string> {
  const { exitCode, stdout } = await runGit(["rev-parse", "--show-toplevel"], { cwd: process.cwd() });
  if (exitCode === 0 && stdout.length > 1) return stdout.toString().replace(/\n$/, "");
  throw new CommandError("usage", `${process.cwd()} is not in a git work tree.`, {
    hint: "Change to a clone of the repository on which the task worked, and run the command again.",
  });
}

/** Throws if a part of the changes is missing, because an incomplete change can be worse than none. */
function rejectIncomplete(taskId: string, { diff, diffBase64, truncated, omitted }: TaskDiff, changes: readonly Change[]): void {
  const refuse = (problem: string, hint: string): never => {
    throw new CommandError("failed", `The diff of task "${taskId}" is not applied: ${problem}`, { hint });
  };
  const getFiles = `Get the files with: brg files ${taskId} <path>`;
  if (truncated !== null) refuse(`its end is missing (${truncated}).`, getFiles);
  if (diffBase64 === undefined && diff.includes("\ufffd"))
    refuse("it contains U+FFFD, and this Bridge does not report whether that replaces bytes that are not UTF-8.", getFiles);
  if (omitted.length > 0)
    refuse(
      `it omits files that are too large: ${omitted.map(showName).join(", ")}.`,
      `${getFiles}\nTo apply the rest, run: brg diff ${taskId} | git apply`,
    );
  const binary = changes.filter(({ isBinary }) => isBinary).map(({ name }) => name);
  if (binary.length === 0) return;
  // The agent has chosen the names, so only names without a meaning for the shell and for git become a part of a command.
  const exclude = binary.every((name) => PLAIN_NAME.test(name)) ? binary.map((name) => ` --exclude='${name}'`).join("") : null;
  const applyRest = exclude === null ? "" : `\nTo apply the rest, run: brg diff ${taskId} | git apply${exclude}`;
  refuse(`it does not contain the content of binary files: ${binary.map(showName).join(", ")}.`, getFiles + applyRest);
}

const PLAIN_NAME = /^[\p{L}\p{N}_./@+=, -]+$/u;

/** A file that the diff changes. */
interface Change {
  /** The bytes of its path, one character each. */
  path: string;
  /** Its path as text. */
  name: string;
  /** The diff only reports that it differs. */
  isBinary: boolean;
}

/** Returns the files that the diff changes. git parses it, because a changed line can look like a header of the diff. */
async function listChanges(root: string, diff: Buffer): Promise<Change[]> {
  const { stdout } = await apply(root, ["--numstat", "-z"], diff);
  return stdout
    .toString("latin1")
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => {
      const [added, , ...rest] = line.split("\t");
      const bytes = rest.join("\t");
      return { path: bytes, name: Buffer.from(bytes, "latin1").toString(), isBinary: added === "-" };
    });
}

/**
 * Throws if a directory of the path is a symbolic link. With `--3way`, git looks for links only in its index, and would write through one
 * that is not in it.
 */
function rejectPathBeyondLink(root: string, bytes: string): void {
  const directories = bytes.split("/").slice(0, -1);
  for (const count of directories.keys()) {
    const relative = Buffer.from(directories.slice(0, count + 1).join("/"), "latin1");
    const directory = Buffer.concat([Buffer.from(`${root}/`), relative]);
    if (lstatSync(directory, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    throw new CommandError(
      "conflict",
      `${showName(Buffer.from(bytes, "latin1").toString())} is beyond a symbolic link, so it can be outside of the work tree; nothing was changed.`,
      { hint: `Remove the link: ${showName(directory.toString())}` },
    );
  }
}

/** git refuses paths outside of the work tree, in `.git`, and beyond links. */
const apply = (root: string, args: readonly string[], diff: Buffer): Promise<GitEnd> =>
  runGit(["apply", "--whitespace=nowarn", ...args, "-"], { cwd: root, input: diff });

async function explainFailure(taskId: string, root: string, { commit }: TaskDiff, { stderr }: GitEnd): Promise<CommandError> {
  // A name can contain a newline, so every line is indented.
  const reasons = stderr
    .trim()
    .split("\n")
    .map((line) => `  ${line.replace(/^error: /, "")}`)
    .join("\n");
  const head = (await runGit(["rev-parse", "HEAD"], { cwd: root })).stdout.toString().trim();
  const isOther = head !== commit;
  const start = isOther
    ? ` The task started from the commit ${commit.slice(0, 12)}, and here ${head.slice(0, 12) || "no commit"} is checked out.`
    : "";
  return new CommandError("conflict", `The diff of task "${taskId}" does not apply to ${root}; nothing was changed.${start}\n${reasons}`, {
    hint: `Check out ${isOther ? "that commit" : "a clean work tree"}, or merge the changes with: brg apply ${taskId} --3way`,
  });
}

/** What the command did, for JSON. */
interface Report {
  taskId: string;
  /** The root of the work tree. */
  root: string;
  files: string[];
  applied: boolean;
  /** Only after a merge with conflicts. */
  conflicts?: string[];
  /** Only for a task with its own work tree: the new commits, and the last of them. */
  commits?: number;
  headCommit?: string;
}

function reportCommits(output: Output, { taskId, root, isCheck }: CommitTarget, commits: AppliedCommits | null): void {
  const applied = !isCheck && commits !== null && commits.commits > 0;
  const result = { taskId, root, files: [], ...commits, applied };
  if (commits === null) report(output, result, "The task changed nothing.");
  else if (commits.commits === 0) report(output, result, `${root} already contains the changes.`);
  else {
    const counts = `${commits.commits} commit(s), which change ${commits.files.length} file(s),`;
    report(output, result, isCheck ? `${counts} apply to ${root}.` : `${counts} were applied to ${root}.`);
  }
}

function report(output: Output, result: Report, summary: string): void {
  if (output.format === "json") output.printJson(result);
  else for (const name of result.files) output.print(output.format === "pipe" ? name : showName(name));
  output.note(summary);
}
