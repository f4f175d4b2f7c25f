import { lstatSync } from "node:fs";
import path from "node:path";
import type { TaskDiff } from "bridge-client";
import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { type GitEnd, runGit } from "../git.ts";
import { nameTask } from "../name-task.ts";
import type { Output } from "../output.ts";
import { showHidden } from "../show-hidden.ts";
import type { Run } from "../verb.ts";

interface Options {
  /** Only find out whether the diff applies. */
  check?: boolean;
  /** Merge instead of requiring that the lines are unchanged. */
  "3way"?: boolean;
}

/** Applies the diff of a task to the git work tree of the current directory. Changes nothing unless all of it applies. */
export const run: Run<Options> = async ({ args: [taskId = ""], options, output, signal, connect }) => {
  const root = await findWorkTree();
  const result = await nameTask(taskId, connect().client.files.diff(taskId, { signal }));
  rejectIncomplete(taskId, result);
  if (result.diff === "") {
    report(output, { taskId, root, files: [], applied: false }, "The task changed nothing.");
    return undefined;
  }
  const files = await listFiles(root, result.diff);
  for (const name of files) rejectPathBeyondLink(root, name);
  const isMerge = options["3way"] === true;
  // A merge leaves conflict markers, so it is never the first attempt.
  const checked = isMerge ? null : await apply(root, ["--check"], result.diff);
  if (checked !== null && checked.exitCode !== 0) throw await explainFailure(taskId, root, result, checked);
  if (options.check === true) {
    report(output, { taskId, root, files, applied: false }, `The diff of ${files.length} file(s) applies to ${root}.`);
    return undefined;
  }
  const applied = await apply(root, isMerge ? ["--3way"] : [], result.diff);
  const conflicts = [...applied.stderr.matchAll(/^U (.+)$/gm)].map(([, name = ""]) => name);
  if (conflicts.length > 0) {
    report(output, { taskId, root, files, applied: true, conflicts }, "The diff was merged, with conflicts.");
    for (const name of conflicts) output.warn(`Resolve the conflict in ${showHidden(name)}, then run: git add`);
    return exitCodes.conflict;
  }
  if (applied.exitCode !== 0) throw await explainFailure(taskId, root, result, applied);
  report(output, { taskId, root, files, applied: true }, `Applied to ${files.length} file(s) in ${root}.`);
  return undefined;
};

/** Returns the root of the work tree. In a directory below it, git would ignore the files outside of this directory. */
async function findWorkTree(): Promise<string> {
  const { exitCode, stdout } = await runGit(["rev-parse", "--show-toplevel"], { cwd: process.cwd() });
  if (exitCode === 0 && stdout.trim() !== "") return stdout.replace(/\n$/, "");
  throw new CommandError("usage", `${process.cwd()} is not in a git work tree.`, {
    hint: "Change to a clone of the repository on which the task worked, and run the command again.",
  });
}

/** Throws if a part of the changes is missing, because an incomplete change can be worse than none. */
function rejectIncomplete(taskId: string, { diff, truncated, omitted }: TaskDiff): void {
  const refuse = (problem: string, hint: string): never => {
    throw new CommandError("failed", `The diff of task "${taskId}" is not applied: ${problem}`, { hint });
  };
  const getFiles = `Get the files with: bridge files ${taskId} <path>`;
  if (truncated !== null) refuse(`its end is missing (${truncated}).`, getFiles);
  if (omitted.length > 0)
    refuse(
      `it omits files that are too large: ${omitted.join(", ")}.`,
      `${getFiles}\nTo apply the rest, run: bridge diff ${taskId} | git apply`,
    );
  const binary = listBinaryFiles(diff);
  if (binary.length === 0) return;
  const exclude = binary.map((name) => `--exclude='${name.replaceAll("'", "'\\''")}'`).join(" ");
  refuse(
    `it does not contain the content of binary files: ${binary.join(", ")}.`,
    `${getFiles}\nTo apply the rest, run: bridge diff ${taskId} | git apply ${exclude}`,
  );
}

/** Returns the names of the files for which git prints only that they differ. */
const listBinaryFiles = (diff: string): string[] =>
  [...diff.matchAll(/^Binary files (.+) and (.+) differ$/gm)].map(([, before = "", after = ""]) =>
    (after === "/dev/null" ? before : after).replace(/^[ab]\//, ""),
  );

/** Returns the names of the files that the diff changes. */
async function listFiles(root: string, diff: string): Promise<string[]> {
  const { stdout } = await apply(root, ["--numstat", "-z"], diff);
  return stdout.split("\0").flatMap((line) => line.split("\t").slice(2));
}

/**
 * Throws if a directory of the path is a symbolic link. With `--3way`, git looks for links only in its index, and would write through one
 * that is not in it.
 */
function rejectPathBeyondLink(root: string, name: string): void {
  const directories = name.split("/").slice(0, -1);
  for (const count of directories.keys()) {
    const directory = path.join(root, ...directories.slice(0, count + 1));
    if (lstatSync(directory, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    throw new CommandError(
      "conflict",
      `${showHidden(name)} is beyond a symbolic link, so it can be outside of the work tree; nothing was changed.`,
      {
        hint: `Remove the link: ${directory}`,
      },
    );
  }
}

/** git refuses paths outside of the work tree, in `.git`, and beyond links. */
const apply = (root: string, args: readonly string[], diff: string): Promise<GitEnd> =>
  runGit(["apply", "--whitespace=nowarn", ...args, "-"], { cwd: root, input: diff });

async function explainFailure(taskId: string, root: string, { commit }: TaskDiff, { stderr }: GitEnd): Promise<CommandError> {
  const reasons = showHidden(stderr.trim().replaceAll(/^error: /gm, "  "));
  const head = (await runGit(["rev-parse", "HEAD"], { cwd: root })).stdout.trim();
  const isOther = head !== commit;
  const start = isOther
    ? ` The task started from the commit ${commit.slice(0, 12)}, and here ${head.slice(0, 12) || "no commit"} is checked out.`
    : "";
  return new CommandError("conflict", `The diff of task "${taskId}" does not apply to ${root}; nothing was changed.${start}\n${reasons}`, {
    hint: `Check out ${isOther ? "that commit" : "a clean work tree"}, or merge the changes with: bridge apply ${taskId} --3way`,
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
}

function report(output: Output, result: Report, summary: string): void {
  if (output.format === "json") output.printJson(result);
  else for (const name of result.files) output.print(output.format === "pipe" ? name : showHidden(name));
  output.note(summary);
}
