import { BridgeError } from "../errors.ts";
import { createGitEnvironment, createGitSettings, type GitEnd, rejectMissingGit, START_GIT } from "../workspaces/isolated-git.ts";
import type { RepositoryPaths } from "./paths.ts";
import { protocolOf } from "./repositories-file.ts";
import type { Repository } from "./repository.ts";

/** Starts a program of Bridge itself, outside of the sandbox. */
export type RunHost = (options: {
  /** Whether Bridge searches for processes that outlive it. Default: only if Bridge has stopped it. */
  leavesProcesses?: boolean;
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  input: string;
  stdoutBytes: number;
  signal: AbortSignal;
}) => Promise<GitEnd>;

/** Limits of one call of git. */
export interface GitCall {
  signal?: AbortSignal | undefined;
  ms?: number;
  input?: string;
  /** A file that git reads instead of `input`. */
  inputFile?: string;
  stdoutBytes?: number;
  /** Variables besides those that isolate git. */
  variables?: Readonly<Record<string, string>>;
}

/** git failed. The message is the last lines of what it printed, without credentials. */
export class GitFault extends Error {
  override readonly name = "GitFault";
  /** Null if it was stopped. */
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs git of Bridge itself: in its own repositories, and for the sources of the operator. */
export type HostGit = ReturnType<typeof createHostGit>;

/** Most calls read a few references. */
const DEFAULT_MS = 60_000;
const DEFAULT_STDOUT_BYTES = 8 * 1024 * 1024;
/** Address space of git for Bridge's own repositories, in KiB. */
const MEMORY_KIB = 4 * 1024 * 1024;
/** Larger files are not compared line by line. */
const FILE_BYTES = 4 * 1024 * 1024;
const MAX_SHOWN_LINES = 8;
const MAX_SHOWN_CHARACTERS = 1000;

/**
 * Creates the access to git outside of the sandbox. No file of a work tree is read this way, only objects and references in repositories
 * that tasks cannot write to.
 */
export function createHostGit({
  paths,
  runHost,
  environment,
}: {
  paths: Pick<RepositoryPaths, "hide">;
  runHost: RunHost;
  environment: Readonly<Record<string, string | undefined>>;
}) {
  const userVariables = selectUserVariables(environment);

  type Start = Pick<Parameters<RunHost>[0], "argv" | "env" | "leavesProcesses">;

  async function run(start: Start, call: GitCall): Promise<GitEnd> {
    const { signal, ms = DEFAULT_MS, input = "", stdoutBytes = DEFAULT_STDOUT_BYTES } = call;
    const timeout = AbortSignal.timeout(ms);
    const limited = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    const end = await runHost({ ...start, input, stdoutBytes, signal: limited });
    signal?.throwIfAborted();
    if (end.aborted) throw new GitFault(`git did not end within ${ms / 1000} s.`, null);
    rejectMissingGit(end);
    return end;
  }

  function runInStore(gitDirectory: string, args: readonly string[], call: GitCall = {}): Promise<GitEnd> {
    const [script, first] = call.inputFile === undefined ? [START_GIT, []] : [`exec <"$1"; shift; ${START_GIT}`, [call.inputFile]];
    const settings = [...createGitSettings(FILE_BYTES), ...DURABLE];
    const argv = ["/bin/sh", "-c", script, String(MEMORY_KIB), ...first, ...settings, ...args];
    return run({ argv, env: { ...createGitEnvironment(gitDirectory, null), ...call.variables } }, call);
  }

  return {
    /** Runs git in a repository of Bridge, without any configuration of the user. Returns what it prints. Throws GitFault. */
    store: async (gitDirectory: string, args: readonly string[], call?: GitCall): Promise<Buffer> =>
      requireSuccess(await runInStore(gitDirectory, args, call), paths.hide).stdout,
    /** Runs git as `store` does, and also returns output that a limit has cut. */
    runInStore,
    /**
     * Runs git for the source of a repository, with the credentials and the configuration of Bridge's user, but only with the protocol of
     * the source, and without hooks and submodules. `gitDirectory` is null for a clone. Throws GitFault.
     */
    async source(
      gitDirectory: string | null,
      { name, source }: Pick<Repository, "name" | "source">,
      args: readonly string[],
      call: GitCall,
    ) {
      const env = {
        ...userVariables,
        ...{ LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", SSH_ASKPASS_REQUIRE: "never", GIT_ALLOW_PROTOCOL: protocolOf(source) ?? "none" },
        ...(gitDirectory === null ? {} : { GIT_DIR: gitDirectory }),
      };
      // The path or the URL of the source is only for the operator.
      const hide = (text: string): string => paths.hide(withoutCredentials(text).replaceAll(withoutCredentials(source), name));
      // The user's configuration can make git and ssh start daemons.
      const start = { argv: ["git", ...SOURCE_SETTINGS, ...args], env, leavesProcesses: true };
      return requireSuccess(await run(start, call), hide).stdout;
    },
  };
}

/** A stored commit must survive a crash of the machine, because its work tree is removed after it. */
const DURABLE = ["core.fsync=all", "core.fsyncMethod=batch", "gc.auto=0", "maintenance.auto=false"].flatMap((setting) => ["-c", setting]);

const SOURCE_SETTINGS = [
  ...["core.hooksPath=/dev/null", "core.fsmonitor=false", "submodule.recurse=false", "fetch.recurseSubmodules=false"],
  ...["push.recurseSubmodules=no", "push.gpgSign=false", "push.followTags=false", "gc.auto=0", "maintenance.auto=false"],
  ...["fetch.writeCommitGraph=false", "fetch.fsckObjects=false", "http.lowSpeedLimit=1000", "http.lowSpeedTime=60"],
].flatMap((setting) => ["-c", setting]);

function requireSuccess(end: GitEnd, hide: (text: string) => string): GitEnd {
  if (end.limit !== null) throw new GitFault("The output of git exceeds the limit of Bridge.", null);
  if (end.exitCode === 0) return end;
  throw new GitFault(describeOutput(hide(end.stderr)) || `git failed with exit code ${end.exitCode}.`, end.exitCode);
}

/** A password can contain `@`. */
const withoutCredentials = (text: string): string => text.replace(/:\/\/[^/\s]*@/g, "://");

/** Returns the last lines of what git printed, without the credentials in URLs. */
export function describeOutput(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("hint:"));
  return withoutCredentials(lines.slice(-MAX_SHOWN_LINES).join("\n")).slice(-MAX_SHOWN_CHARACTERS).trim();
}

/** Variables by which an environment names a repository, and those of Bridge, which git and its helpers do not need. */
const OMITTED_VARIABLES =
  /^(BRIDGE_.*|GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|CONFIG|CONFIG_PARAMETERS|CONFIG_COUNT|SHALLOW_FILE|GRAFT_FILE|IMPLICIT_WORK_TREE))$/;

const selectUserVariables = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined || OMITTED_VARIABLES.test(name) ? [] : [[name, value]])),
  );

/** Converts a failure of git to an error for clients. Other errors are returned unchanged. */
export const toClientError = (error: unknown, what: string): unknown =>
  error instanceof GitFault ? new BridgeError("invalid_state", `${what}: ${error.message}`, { cause: error }) : error;
