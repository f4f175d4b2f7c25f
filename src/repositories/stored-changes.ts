import { BridgeError } from "../errors.ts";
import { DIFF_LIMITS, encodeUnlessText, explainCut } from "../workspaces/diff-work-tree.ts";
import { DIFF_OPTIONS } from "../workspaces/isolated-git.ts";
import type { TaskDiff } from "../workspaces/task-diffs.ts";
import { describeOutput, GitFault, type HostGit, toClientError } from "./host-git.ts";
import type { TreeTask } from "./repository.ts";
import type { TenantCommits } from "./tenant-commits.ts";

/** Maximum size of a patch, in bytes. */
export const PATCH_BYTES = 64 * 1024 * 1024;
/** A longer history becomes one commit. */
const LOG_BYTES = 4 * 1024 * 1024;
/** Lines at which `git am` ends a message, or takes a header from it. */
const LIKE_A_PATCH = /^(---|diff -|Index: |>?From |From: |Date: |Subject: )/;

/** The commits of an ended task in the repository of its tenant. */
interface StoredRange {
  repository: string;
  base: string;
  head: string;
}

/** Creates the access to the changes of ended tasks. It reads only what Bridge has stored and checked. */
export function createStoredChanges({ commits, git }: { commits: TenantCommits; git: HostGit }) {
  async function findRange(task: TreeTask, signal: AbortSignal): Promise<StoredRange> {
    const { repository, base, head } = await commits.rangeOf(task, signal);
    if (base !== null && head !== null) return { repository, base, head };
    throw new BridgeError(
      "not_found",
      task.repository.keep === "none"
        ? 'Bridge keeps no changes of this task, because its dispatch has "keep": "none".'
        : "No changes of the task are stored: it did not start, or its changes could not be stored. See `repository.error` of the task.",
    );
  }

  /** Returns a commit with all changes whose parent is the base, for a history that patches cannot express. */
  async function squash({ repository, base, head }: StoredRange, { taskId }: TreeTask, signal: AbortSignal): Promise<string> {
    const shown = await git.store(repository, ["show", "--no-patch", "--format=%cd", "--date=raw", head], { signal });
    const date = shown.toString().trim();
    const names = ["-c", "user.name=Bridge", "-c", "user.email=bridge@localhost"];
    const argv = [...names, "commit-tree", "-p", base, "-m", `Changes of task ${taskId}`, `${head}^{tree}`];
    // With the date of the head, the same request returns the same bytes.
    const variables = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    return (await git.store(repository, argv, { signal, variables })).toString().trim();
  }

  /**
   * Whether patches can express the commits: there are some, each has one parent, the first one has the base, and no message looks like a
   * patch. A head that is before the base has no commits, but other files.
   */
  async function isLinear({ repository, base, head }: StoredRange, signal: AbortSignal): Promise<boolean> {
    const argv = ["log", "--reverse", "--format=%H %P%n%B", "-z", `${base}..${head}`];
    const { exitCode, limit, stdout, stderr } = await git.runInStore(repository, argv, { signal, stdoutBytes: LOG_BYTES });
    if (limit !== null) return false;
    if (exitCode !== 0) throw new GitFault(describeOutput(stderr), exitCode);
    let last = base;
    const entries = stdout.toString().split("\0").slice(0, -1);
    const follows = (entry: string): boolean => {
      const [first = "", ...message] = entry.split("\n");
      const [commit = "", ...parents] = first.split(" ");
      const isNext = parents.length === 1 && parents[0] === last;
      last = commit;
      return isNext && !message.some((line) => LIKE_A_PATCH.test(line));
    };
    return entries.length > 0 && entries.every(follows);
  }

  return {
    /** Returns the diff of the base and the head. Throws BridgeError: not_found, invalid_state. */
    async readDiff(task: TreeTask, signal: AbortSignal): Promise<TaskDiff> {
      const { repository, base, head } = await findRange(task, signal);
      const call = { signal, ms: DIFF_LIMITS.ms, stdoutBytes: DIFF_LIMITS.bytes };
      const end = await git.runInStore(repository, ["diff", ...DIFF_OPTIONS, base, head], call).catch((error: unknown) => {
        throw toClientError(error, "The diff cannot be read");
      });
      const truncated = explainCut(end);
      const diff = { diff: end.stdout.toString(), diffBase64: encodeUnlessText(end.stdout, truncated) };
      return { commit: base, directory: "", ...diff, truncated, omitted: [] };
    },
    /** Returns the commits as patches for `git am`. Throws BridgeError: not_found, too_large, invalid_state. */
    async readPatch(task: TreeTask, signal: AbortSignal): Promise<Buffer> {
      const range = await findRange(task, signal);
      const { repository, base, head } = range;
      if (base === head) return Buffer.alloc(0);
      try {
        const last = (await isLinear(range, signal)) ? head : await squash(range, task, signal);
        const options = [
          "--stdout",
          "--binary",
          "--full-index",
          "--no-signature",
          "--no-stat",
          "--no-attach",
          "--no-thread",
          ...PATCH_OPTIONS,
        ];
        const call = { signal, stdoutBytes: PATCH_BYTES };
        const { exitCode, limit, stdout, stderr } = await git.runInStore(
          repository,
          ["format-patch", ...options, `${base}..${last}`],
          call,
        );
        if (limit !== null) throw createTooLargeError(`The patch is larger than ${PATCH_BYTES / 1024 ** 2} MiB.`);
        if (/memory|too large/i.test(stderr)) throw createTooLargeError("A file is too large for git to put it into a patch.");
        if (exitCode !== 0) throw new BridgeError("invalid_state", `Bridge cannot create the patch: ${describeOutput(stderr)}`);
        return stdout;
      } catch (error) {
        throw toClientError(error, "Bridge cannot create the patch");
      }
    },
  };
}

const PATCH_OPTIONS = DIFF_OPTIONS.filter((option) => option !== "--no-relative");

const createTooLargeError = (reason: string): BridgeError =>
  new BridgeError("too_large", `${reason} Dispatch the task with "push": true, and fetch its branch from the source of the repository.`);
