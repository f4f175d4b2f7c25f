import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AdapterConfig, PreflightStep, Sandbox } from "#contract";
import { checkSandbox } from "./check-sandbox.ts";
import { findProgram } from "./find-program.ts";
import { createKeyringFilter } from "./keyring-filter.ts";
import { createMountArguments } from "./sandbox-view.ts";
import { createSecretFinder } from "./secret-directories.ts";

/** The user and group id without privileges. Every system has this user, so that programs can look up their user. */
const UNPRIVILEGED_ID = "65534";

/** Opens the filter of system calls for bwrap, which accepts it only as a file descriptor. */
const OPEN_FILTER = 'exec "$@" 9<"$0"';
const FILTER_DESCRIPTOR = "9";

/** Name of the shell that starts a program in a sandbox. Its error messages begin with it. */
export const WAITER_NAME = "bridge-sandbox";
/** Prefix of numbered variables with the value `NAME=value`, which the shell in the sandbox exports as `NAME`. */
export const VARIABLE_PREFIX = "BRIDGE_VARIABLE_";
/**
 * Runs the program. After its exit, sends SIGTERM to its descendants and waits up to one second for them, as without a sandbox. Then the
 * sandbox ends.
 */
const RUN_AND_WAIT = `
exec 3>&2 2>/dev/null
(exec "$@" 2>&3 3>&-)
code=$?
kill -s TERM -- -1 || exit $code
turn=0
while [ $turn -lt 50 ] && kill -s 0 -- -1; do command -p sleep 0.02; turn=$((turn + 1)); done
exit $code`;
/** Exports the program's variables right before it starts, so that they do not affect the programs that start earlier. */
const START_PROGRAM = `
exec 3>&2 2>/dev/null
bridge_next=0
while eval "bridge_variable=\\\${${VARIABLE_PREFIX}$bridge_next-}" && [ -n "$bridge_variable" ]; do
  export "$bridge_variable"
  unset "${VARIABLE_PREFIX}$bridge_next"
  bridge_next=$((bridge_next + 1))
done
exec "$@" 2>&3 3>&-`;

/** Options of a sandbox. All paths are absolute. */
export interface SandboxOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Directories of Bridge. In them a task sees only its own directories. */
  hidden: readonly string[];
  /** Files of Bridge that no task sees. A file that does not exist yet is hidden as soon as it does. */
  secrets: readonly string[];
  /** The installation of Bridge and the paths in its settings. Programs there stay visible. */
  programs: readonly string[];
  /** A directory for the files of the sandbox and for its check. */
  directory: string;
  /** Returns the directories below hidden ones that a program may read if it may write to these. Default: none. */
  readableWith?(writable: readonly string[]): readonly string[];
}

/** Creates a sandbox that uses bubblewrap. If bubblewrap does not work on this host, returns the reason as `missing`. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox | { missing: string }> {
  const pathVariable = options.env["PATH"] ?? "";
  const bwrap = findProgram("bwrap", pathVariable);
  if (bwrap === null)
    return { missing: "bubblewrap (Linux only) is not on PATH. Install it, for example with apt-get install bubblewrap." };
  const programs = [...options.programs, process.execPath, ...pathVariable.split(path.delimiter).filter(path.isAbsolute)];
  const { hidden, directory } = options;
  const filter = writeFilter(directory);
  const findSecrets = createSecretFinder(options.secrets);

  const wrapWith =
    (separation: readonly string[]): Sandbox["wrap"] =>
    ([program = "", ...programArguments], { cwd, tmp, writable }) => {
      const view = createMountArguments({
        hidden,
        secrets: findSecrets(),
        programs: [...programs, program],
        writable: [...writable, tmp],
        readable: options.readableWith?.(writable) ?? [],
        tmp,
      });
      const bwrapCommand = ["/bin/sh", "-c", OPEN_FILTER, filter, bwrap, "--seccomp", FILTER_DESCRIPTOR];
      const waiter = ["/bin/sh", "-c", RUN_AND_WAIT, WAITER_NAME, ...separation];
      const starter = ["/bin/sh", "-c", START_PROGRAM, WAITER_NAME, program, ...programArguments];
      return [...bwrapCommand, ...createFixedArguments(), ...view, "--chdir", cwd, "--", ...waiter, ...starter];
    };

  const reasons: { missing: string }[] = [];
  for (const separation of listInitSeparations(pathVariable)) {
    const wrap = wrapWith(separation);
    const checked = await checkSandbox(wrap, { bwrap, directory, pathVariable });
    if (!("missing" in checked)) return { ...checked, wrap };
    reasons.push(checked);
  }
  // The first separation is the preferred one, so the operator should fix its problem.
  return reasons[0] as { missing: string };
}

/**
 * Returns commands that separate a program from the init process of its sandbox, which has the same user. With ptrace or `/proc/1/mem`,
 * the program could remove the parent-death signal and the process group of the init process, and outlive Bridge. A nested user namespace
 * prevents both accesses. If namespaces cannot be nested, the kernel module Yama may prevent them.
 */
function listInitSeparations(pathVariable: string): string[][] {
  const unshare = findProgram("unshare", pathVariable);
  return [...(unshare === null ? [] : [[unshare, "--user", "--map-current-user", "--"]]), []];
}

/** Writes the file for OPEN_FILTER. The start of a task can read it at any time, so it is replaced atomically. */
function writeFilter(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, "keyring-filter.bpf");
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, createKeyringFilter());
  renameSync(draft, file);
  return file;
}

/**
 * Returns the arguments that are the same for every sandbox: new namespaces of users, processes and System V objects, and no capabilities.
 * The sandbox ends with the thread of Bridge that started it. It needs no new session, because Bridge starts processes in a session
 * without a terminal.
 */
const createFixedArguments = (): string[] => [
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"],
  // Root without capabilities cannot create nested user namespaces, which the sandboxes of agent programs need.
  ...(process.getuid?.() === 0 ? ["--uid", UNPRIVILEGED_ID, "--gid", UNPRIVILEGED_ID] : []),
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  ...(process.getuid?.() === 0 ? createReadOnlyMounts() : []),
];

/**
 * Returns the arguments that mount the files in /proc that change kernel settings as read-only. Root owns them and needs no capability to
 * write to them. Other users cannot write to them, and need no such mounts: with them, the kernel would reject the /proc of a nested
 * sandbox.
 */
function createReadOnlyMounts(): string[] {
  const files = readdirSync("/proc")
    .filter((name) => !/^\d+$/.test(name))
    .map((name) => path.join("/proc", name));
  return files.filter(isChangeable).flatMap((file) => ["--ro-bind-try", file, file]);
}

function isChangeable(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found !== undefined && (found.isDirectory() || (found.isFile() && (found.mode & 0o222) !== 0));
}

/** Returns the preflight step that describes the sandbox, or why it does not work; empty if the operator has enabled none. */
export function createSandboxSteps({ sandbox, sandboxFault = null }: Pick<AdapterConfig, "sandbox" | "sandboxFault">): PreflightStep[] {
  if (sandbox !== null) return [{ step: "sandbox", ok: true, detail: `${sandbox.detail}: tasks can write only to their own directories` }];
  return sandboxFault === null ? [] : [{ step: "sandbox", ok: false, detail: `Tasks run without a sandbox: ${sandboxFault}` }];
}
