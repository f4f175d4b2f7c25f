import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { PreflightStep, Sandbox } from "#contract";
import { checkSandbox } from "./check-sandbox.ts";
import { findProgram } from "./find-program.ts";
import { keyringFilter } from "./keyring-filter.ts";
import { mountsOf } from "./sandbox-view.ts";
import { createSecretFinder } from "./secret-directories.ts";

/** The user and group id without privileges. Every system has this user, so that programs can look up their user. */
const UNPRIVILEGED_ID = "65534";

/** Opens the filter of system calls for bwrap, which accepts it only as a file descriptor. */
const OPEN_FILTER = 'exec "$@" 9<"$0"';
const FILTER_DESCRIPTOR = "9";

/** The name in the error messages of the shell that starts a program in a sandbox. */
export const WAITER_NAME = "bridge-sandbox";
/** Prefix of numbered variables with the value `NAME=value`, which the shell in the sandbox exports as `NAME`. */
export const VARIABLE_PREFIX = "BRIDGE_VARIABLE_";
/** Runs the program and, before the sandbox ends with it, gives its descendants one second after SIGTERM, as without a sandbox. */
const RUN_AND_WAIT = `
exec 3>&2 2>/dev/null
(exec "$@" 2>&3 3>&-)
code=$?
kill -s TERM -- -1 || exit $code
turn=0
while [ $turn -lt 50 ] && kill -s 0 -- -1; do command -p sleep 0.02; turn=$((turn + 1)); done
exit $code`;
/** Exports the program's variables right before its start, so that they do not affect the programs before it. */
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
}

/** Creates a sandbox that uses bubblewrap. Returns the reason for the operator if bubblewrap does not work on this host. */
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
      const view = mountsOf({ hidden, secrets: findSecrets(), programs: [...programs, program], writable: [...writable, tmp], tmp });
      const bwrapCommand = ["/bin/sh", "-c", OPEN_FILTER, filter, bwrap, "--seccomp", FILTER_DESCRIPTOR];
      const waiter = ["/bin/sh", "-c", RUN_AND_WAIT, WAITER_NAME, ...separation];
      const starter = ["/bin/sh", "-c", START_PROGRAM, WAITER_NAME, program, ...programArguments];
      return [...bwrapCommand, ...fixedArguments(), ...view, "--chdir", cwd, "--", ...waiter, ...starter];
    };

  const reasons: { missing: string }[] = [];
  for (const separation of initSeparations(pathVariable)) {
    const wrap = wrapWith(separation);
    const checked = await checkSandbox(wrap, { bwrap, directory, pathVariable });
    if (!("missing" in checked)) return { ...checked, wrap };
    reasons.push(checked);
  }
  // The reason of the preferred separation is the one to fix.
  return reasons[0] as { missing: string };
}

/**
 * Commands that separate a program from the init process of its sandbox, which has the same user. With ptrace or `/proc/1/mem`,
 * the program could remove the parent-death signal and process group of that process and outlive Bridge. A nested user namespace
 * prevents both. If namespaces cannot be nested, Yama may prevent them.
 */
function initSeparations(pathVariable: string): string[][] {
  const unshare = findProgram("unshare", pathVariable);
  return [...(unshare === null ? [] : [[unshare, "--user", "--map-current-user", "--"]]), []];
}

/** Writes the file for OPEN_FILTER. A task can read it at any time, so it is replaced atomically. */
function writeFilter(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, "keyring-filter.bpf");
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, keyringFilter());
  renameSync(draft, file);
  return file;
}

/**
 * New namespaces of users, processes and System V objects, and no capabilities. The sandbox ends with the thread of
 * Bridge that started it. It needs no new session, because Bridge starts processes in a session without a terminal.
 */
const fixedArguments = (): string[] => [
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"],
  // Without capabilities, root cannot nest user namespaces as root, and the sandboxes of agent programs need that.
  ...(process.getuid?.() === 0 ? ["--uid", UNPRIVILEGED_ID, "--gid", UNPRIVILEGED_ID] : []),
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  ...(process.getuid?.() === 0 ? readOnlyKernelFiles() : []),
];

/**
 * Root owns the files in /proc that change kernel settings, and needs no capability to write to them. Other users
 * cannot write to them. For other users nothing is mounted there, because the kernel would then reject the /proc of a
 * nested sandbox.
 */
function readOnlyKernelFiles(): string[] {
  const places = readdirSync("/proc")
    .filter((name) => !/^\d+$/.test(name))
    .map((name) => path.join("/proc", name));
  return places.filter(isChangeable).flatMap((place) => ["--ro-bind-try", place, place]);
}

function isChangeable(place: string): boolean {
  const found = lstatSync(place, { throwIfNoEntry: false });
  return found !== undefined && (found.isDirectory() || (found.isFile() && (found.mode & 0o222) !== 0));
}

/** The preflight step that describes the sandbox; empty without a sandbox. */
export const sandboxStep = (sandbox: Sandbox | null): PreflightStep[] =>
  sandbox === null ? [] : [{ step: "sandbox", ok: true, detail: `${sandbox.detail}: tasks can write only to their own directories` }];
