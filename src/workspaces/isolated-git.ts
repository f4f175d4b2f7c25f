import { copyFile, mkdir, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { readFileInside } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";

/** How git ended, and its output, which contains the bytes of files. */
export interface GitEnd {
  spawnError: string | null;
  exitCode: number | null;
  aborted: boolean;
  limit: string | null;
  stdout: Buffer;
  stderr: string;
}

/** Starts git or find, in the sandbox if there is one. */
export type RunGit = (options: {
  argv: readonly string[];
  /** The whole environment, except PATH and HOME. */
  env: Readonly<Record<string, string>>;
  /** The only directory of tasks that git sees. Tasks can replace everything in it, but not the directory itself. */
  workspace: string;
  /** The only other directory that git may write to. */
  scratch: string;
  stdoutBytes: number;
  signal: AbortSignal;
}) => Promise<GitEnd>;

/** Options of `createIsolatedGit`. */
export interface IsolatedGitOptions {
  runGit: RunGit;
  /** The real path of the directory of tasks. */
  workspace: string;
  workTree: string;
  /** The repository that git uses, without configuration of tasks. */
  gitDirectory: string;
  scratch: string;
  /** Variables for git besides those that isolate it. */
  variables?: Readonly<Record<string, string>>;
  /** Settings for git besides those that isolate it. */
  settings?: readonly string[];
  limits: { bytes: number; ms: number; memoryKib: number; fileBytes: number };
  signal: AbortSignal;
}

/** Runs git, and other programs, for one work tree. */
export type IsolatedGit = ReturnType<typeof createIsolatedGit>;

/**
 * Creates the access to git for a work tree that a task may have written: git reads no configuration, hook, index or reference of it.
 * Therefore nothing in the work tree can name a program that git runs. All calls share one time limit.
 */
export function createIsolatedGit({ runGit, workspace, workTree, gitDirectory, scratch, limits, signal, ...more }: IsolatedGitOptions) {
  const env = { ...createGitEnvironment(gitDirectory, workTree), ...more.variables };
  const settings = [...createGitSettings(limits.fileBytes), ...toArguments(more.settings ?? [])];
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(limits.ms)]);

  async function run(argv: readonly string[]): Promise<GitEnd> {
    const end = await runGit({ argv, env, workspace, scratch, stdoutBytes: limits.bytes, signal: deadline });
    signal.throwIfAborted();
    return end;
  }
  return {
    /** Aborts when the time is over. */
    deadline,
    /** Runs a program with the environment of git. */
    run,
    /** Runs git in the work tree, maybe from one file to another. Throws BridgeError: not_supported, if there is no git. */
    async git(args: readonly string[], files?: { from: string; to: string }): Promise<GitEnd> {
      const [script, first] = files === undefined ? [START_GIT, []] : [`exec <"$1" >"$2"; shift 2; ${START_GIT}`, [files.from, files.to]];
      const end = await run(["/bin/sh", "-c", script, String(limits.memoryKib), ...first, "-C", workTree, ...settings, ...args]);
      rejectMissingGit(end);
      return end;
    },
  };
}

/** Limits the address space where the system can, and starts git after the programs of tasks. `$0` is the limit in KiB. */
export const START_GIT = 'ulimit -v "$0" 2>/dev/null; exec nice git "$@"';
const EXIT_NOT_FOUND = 127;

/** Throws BridgeError: not_supported, if git could not be started. */
export function rejectMissingGit({ spawnError, exitCode }: Pick<GitEnd, "spawnError" | "exitCode">): void {
  if (exitCode === EXIT_NOT_FOUND || spawnError?.includes("ENOENT") === true)
    throw new BridgeError("not_supported", "Bridge cannot run git on this host. Install git, and put it on the PATH of Bridge.");
  if (spawnError !== null) throw new BridgeError("not_supported", `Bridge cannot start git: ${spawnError}`);
}

/** Options of git for a diff that does not depend on the configuration of a repository, and runs no program. */
export const DIFF_OPTIONS = [
  ...["--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "--ignore-submodules=all"],
  ...["--src-prefix=a/", "--dst-prefix=b/"],
];

/** Returns settings of git that do not depend on the files of a repository. The last ones limit the memory of git. */
export const createGitSettings = (fileBytes: number): string[] =>
  toArguments([
    ...["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null", "core.excludesFile=/dev/null"],
    ...["core.quotePath=false", "core.symlinks=true", "core.fileMode=true", "core.autocrlf=false", "core.preloadIndex=false"],
    ...["core.useReplaceRefs=false", "submodule.recurse=false", "protocol.allow=never", "advice.addEmbeddedRepo=false"],
    ...[`core.bigFileThreshold=${fileBytes}`, "core.packedGitWindowSize=32m", "core.packedGitLimit=256m"],
  ]);

/** Returns the environment in which git uses this repository, and no configuration besides the repository's. */
export const createGitEnvironment = (gitDirectory: string, workTree: string | null): Record<string, string> => ({
  LC_ALL: "C",
  GIT_DIR: gitDirectory,
  ...(workTree === null ? {} : { GIT_WORK_TREE: workTree }),
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  XDG_CONFIG_HOME: gitDirectory,
});

const toArguments = (settings: readonly string[]): string[] => settings.flatMap((setting) => ["-c", setting]);

/** Options of `createRepository`. */
export interface NewRepository {
  /** A commit of the repository. Its length determines the hash function. */
  commit: string;
  bare?: boolean;
  /** What `HEAD` refers to. */
  head?: string;
  /** More lines of the configuration. */
  config?: string;
  /** Directories of objects of other repositories, which git reads. */
  alternates: readonly string[];
  /** Patterns of ignored files. */
  excludes?: string | Buffer;
}

/** Creates a repository without any reference, and without starting git. It reads the objects of others, and writes none there. */
export async function createRepository(
  gitDirectory: string,
  { commit, bare = false, head = "refs/heads/none", config = "", alternates, excludes = "" }: NewRepository,
): Promise<void> {
  for (const name of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"])
    await mkdir(path.join(gitDirectory, name), { recursive: true });
  const usesSha256 = commit.length === 64;
  const format = usesSha256 ? "[extensions]\n\tobjectFormat = sha256\n" : "";
  const files = {
    HEAD: `ref: ${head}\n`,
    config: `[core]\n\trepositoryFormatVersion = ${usesSha256 ? 1 : 0}\n\tbare = ${bare}\n${format}${config}`,
    "objects/info/alternates": alternates.map((directory) => `${directory}\n`).join(""),
    "info/exclude": excludes,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(gitDirectory, name), content);
}

/** Reads the ignore rules that are not part of the work tree. They are patterns only. */
export function readExcludes(workspace: string, workTree: string, limitBytes: number): string | Buffer {
  try {
    const reading = readFileInside(workspace, path.join(workTree, ".git/info/exclude"), limitBytes);
    return "content" in reading ? reading.content : "";
  } catch {
    return "";
  }
}

/**
 * Copies an index. git compares the content of a file if the file is not older than its index, so the copy must not be newer than the
 * original. Node sets times in milliseconds.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from);
  await copyFile(from, to);
  const seconds = Math.floor(mtimeMs) / 1000;
  await utimes(to, seconds, seconds);
}
