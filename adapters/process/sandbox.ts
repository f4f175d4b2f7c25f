import { randomUUID } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import type { Sandbox } from "#contract";
import { findProgram } from "./find-program.ts";
import { keyringFilter } from "./keyring-filter.ts";
import { mountsOf } from "./sandbox-view.ts";
import { type SecretDirectory, secretDirectories } from "./secret-directories.ts";

/** A machine under load may be slow to make a few namespaces. */
const CHECK_LIMIT_MS = 10_000;
/** `nobody`: known to every system, so that programs find their user. */
const nobody = "65534";

/** Opens the filter of system calls for bwrap, which takes it as a descriptor and cannot open it by name. */
const openFilter = 'exec "$@" 9<"$0"';
const FILTER_DESCRIPTOR = "9";

/** Under this name the shell in a sandbox says why it cannot start a program. */
export const waiterName = "bridge-sandbox";
/** Numbered variables, `NAME=value` each, which become variables within the sandbox only. */
export const variablePrefix = "BRIDGE_VARIABLE_";
/** With its first program a sandbox is over. What that has started may tidy up before, for a second, as without a sandbox. */
const waitForTheRest = `
exec 3>&2 2>/dev/null
(
  bridge_next=0
  while eval "bridge_variable=\\\${${variablePrefix}$bridge_next-}" && [ -n "$bridge_variable" ]; do
    export "$bridge_variable"
    unset "${variablePrefix}$bridge_next"
    bridge_next=$((bridge_next + 1))
  done
  exec "$@" 2>&3 3>&-
)
code=$?
kill -s TERM -- -1 || exit $code
turn=0
while [ $turn -lt 50 ] && kill -s 0 -- -1; do command -p sleep 0.02; turn=$((turn + 1)); done
exit $code`;

/** Prints the version of bwrap, and then each file of the kernel that may be written to. It opens none of them. */
const printWritable = `
"$0" --version
command -v find >/dev/null || exit 1
find /proc /proc/self/net/ -path '/proc/[0-9]*' -prune -o -type f -print 2>/dev/null |
  while IFS= read -r file; do if test -w "$file"; then echo "$file"; fi; done`;

/** What a sandbox needs to know of Bridge. All paths are absolute. */
export interface SandboxOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Directories of Bridge's own: of them a task sees its own directories alone. */
  hidden: readonly string[];
  /** Files of Bridge's own, which no task sees. One that does not exist yet is hidden from when it does. */
  secrets: readonly string[];
  /** Where Bridge itself is installed, and what its settings name: programs stay visible. */
  programs: readonly string[];
  /** A directory of the sandbox's own, which it tries itself in. */
  directory: string;
}

/** Makes the sandbox of bubblewrap, once it has been seen to work here; else says, in words for the operator, why it does not. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox | { missing: string }> {
  const pathVariable = options.env["PATH"] ?? "";
  const bwrap = findProgram("bwrap", pathVariable);
  if (bwrap === null)
    return { missing: "bubblewrap, which only Linux has, is not on the PATH: install it, for example with apt-get install bubblewrap." };
  const programs = [...options.programs, process.execPath, ...pathVariable.split(path.delimiter).filter(path.isAbsolute)];
  const { hidden, directory } = options;
  const filter = writeFilter(directory);
  const findSecrets = createSecretFinder(options.secrets);

  const wrap: Sandbox["wrap"] = ([program = "", ...programArguments], { cwd, tmp, writable }) => {
    const view = mountsOf({ hidden, secrets: findSecrets(), programs: [...programs, program], writable: [...writable, tmp], tmp });
    const launching = ["/bin/sh", "-c", openFilter, filter, bwrap, "--seccomp", FILTER_DESCRIPTOR];
    const waiting = ["/bin/sh", "-c", waitForTheRest, waiterName, program, ...programArguments];
    return [...launching, ...fixedArguments(), ...view, "--chdir", cwd, "--", ...waiting];
  };

  let argv: string[];
  try {
    argv = wrap(["/bin/sh", "-c", printWritable, realpathSync(bwrap)], { cwd: directory, tmp: directory, writable: [] });
  } catch (error) {
    return { missing: (error as Error).message };
  }
  const [launcher = "", ...launcherArguments] = argv;
  const { stdout, stderr, exitCode, shortMessage } = await execa(launcher, launcherArguments, {
    env: { PATH: pathVariable },
    extendEnv: false,
    stdin: "ignore",
    timeout: CHECK_LIMIT_MS,
    reject: false,
  });
  if (exitCode !== 0) {
    const advice = "allow unprivileged user namespaces, by sysctl or, in a container, by its security options.";
    return { missing: `bubblewrap does not work here: ${advice} ${(stderr || shortMessage || "").trim().slice(-500)}`.trim() };
  }
  const [detail = "", ...writable] = stdout.trim().split("\n");
  const leaks = writable.filter(isSettingOfTheMachine);
  if (leaks.length === 0) return { detail, wrap };
  const files = `${leaks.slice(0, 5).join(", ")}${leaks.length > 5 ? ` and ${leaks.length - 5} more` : ""}`;
  return { missing: `a task in the sandbox could write to ${files}: run Bridge as a user who cannot.` };
}

/** Bridge may run as root, to whom such a file belongs; it belongs to no namespace that a task has of its own. */
function isSettingOfTheMachine(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return (lstatSync(file).mode & EVERYBODY_WRITES) === 0;
  } catch {
    return process.getuid?.() === 0;
  }
}
/** A file that every user of the machine may write to is no setting. */
const EVERYBODY_WRITES = 0o002;

/** The file for `openFilter`; a start of a task may read it at any time, so it is never seen half written. */
function writeFilter(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, "keyring-filter.bpf");
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, keyringFilter());
  renameSync(draft, file);
  return file;
}

/** Finds where secrets are at the start of a task; where they were before there may be older versions, so those places stay known. */
function createSecretFinder(files: readonly string[]): () => SecretDirectory[] {
  const known = new Map<string, SecretDirectory>();
  return () => {
    const found = files.filter((file) => existsSync(file)).flatMap(secretDirectories);
    for (const one of found) known.set(JSON.stringify(one), one);
    for (const [key, { directory }] of known) if (!existsSync(directory)) known.delete(key);
    return [...known.values()];
  };
}

/**
 * Own users, processes and System V objects; no capability, whoever starts it; gone with the thread of Bridge that has started it.
 * There is no terminal to take away: a process of Bridge's leads a session without one.
 */
const fixedArguments = (): string[] => [
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"],
  // Without capabilities root may not nest user namespaces as root, which sandboxes of the programs' own need.
  ...(process.getuid?.() === 0 ? ["--uid", nobody, "--gid", nobody] : []),
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  ...(process.getuid?.() === 0 ? readOnlyKernelFiles() : []),
];

/**
 * Root owns the files in /proc that change the machine, and writing to them takes no capability. Other users cannot write to them anyway;
 * for them they stay as they are, because no sandbox within this one could mount a /proc of its own beneath a mount.
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
