import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Sandbox } from "#contract";
import { checkSandbox } from "./check-sandbox.ts";
import { findProgram } from "./find-program.ts";
import { keyringFilter } from "./keyring-filter.ts";
import { mountsOf } from "./sandbox-view.ts";
import { createSecretFinder } from "./secret-directories.ts";

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
(exec "$@" 2>&3 3>&-)
code=$?
kill -s TERM -- -1 || exit $code
turn=0
while [ $turn -lt 50 ] && kill -s 0 -- -1; do command -p sleep 0.02; turn=$((turn + 1)); done
exit $code`;
/** The program gets its variables last, so that they have no effect on what runs before it. */
const startProgram = `
exec 3>&2 2>/dev/null
bridge_next=0
while eval "bridge_variable=\\\${${variablePrefix}$bridge_next-}" && [ -n "$bridge_variable" ]; do
  export "$bridge_variable"
  unset "${variablePrefix}$bridge_next"
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

  const wrapWith =
    (separating: readonly string[]): Sandbox["wrap"] =>
    ([program = "", ...programArguments], { cwd, tmp, writable }) => {
      const view = mountsOf({ hidden, secrets: findSecrets(), programs: [...programs, program], writable: [...writable, tmp], tmp });
      const launching = ["/bin/sh", "-c", openFilter, filter, bwrap, "--seccomp", FILTER_DESCRIPTOR];
      const waiting = ["/bin/sh", "-c", waitForTheRest, waiterName, ...separating];
      const starting = ["/bin/sh", "-c", startProgram, waiterName, program, ...programArguments];
      return [...launching, ...fixedArguments(), ...view, "--chdir", cwd, "--", ...waiting, ...starting];
    };

  const reasons: { missing: string }[] = [];
  for (const separating of waysToSeparate(pathVariable)) {
    const wrap = wrapWith(separating);
    const checked = await checkSandbox(wrap, { bwrap, directory, pathVariable });
    if (!("missing" in checked)) return { ...checked, wrap };
    reasons.push(checked);
  }
  // The first way is the one to repair.
  return reasons[0] as { missing: string };
}

/**
 * How a program is kept from its sandbox's init, which has the same user: with ptrace or `/proc/1/mem` it could take the init's parent-death signal
 * and process group away, and outlive Bridge. A user namespace of its own forbids both. Where namespaces cannot be nested, Yama may forbid them.
 */
function waysToSeparate(pathVariable: string): string[][] {
  const unshare = findProgram("unshare", pathVariable);
  return [...(unshare === null ? [] : [[unshare, "--user", "--map-current-user", "--"]]), []];
}

/** The file for `openFilter`; a start of a task may read it at any time, so it is never seen half written. */
function writeFilter(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, "keyring-filter.bpf");
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, keyringFilter());
  renameSync(draft, file);
  return file;
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
 * Root owns the files in /proc that change kernel settings, and needs no capability to write to them. Other users cannot write to them. For other
 * users nothing is mounted there, because the kernel would then reject the /proc of a nested sandbox.
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
