import { existsSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import type { Sandbox } from "#contract";
import { findProgram } from "./find-program.ts";

/** A machine under load may be slow to make a few namespaces. */
const CHECK_LIMIT_MS = 10_000;
const sharedTmp = "/tmp";
/** `nobody`: known to every system, so that programs find their user. */
const nobody = "65534";

/** Under this name the shell in a sandbox says why it cannot start a program. */
export const waiterName = "bridge-sandbox";
/** With its first program a sandbox is over. What that has started may tidy up before, for a second, as without a sandbox. */
const waitForTheRest = `
exec 3>&2 2>/dev/null
(exec "$@" 2>&3 3>&-)
code=$?
kill -s TERM -- -1 || exit $code
turn=0
while [ $turn -lt 50 ] && kill -s 0 -- -1; do command -p sleep 0.02; turn=$((turn + 1)); done
exit $code`;

/** What a sandbox needs to know of Bridge. */
export interface SandboxOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Directories and files of Bridge's own: a task sees nothing of them but its own directories. */
  hidden: readonly string[];
  /** Where Bridge itself is installed. */
  installation: string;
  /** A directory to try the sandbox in. */
  directory: string;
}

/** Makes the sandbox of bubblewrap, once it has been seen to work here; else says, in words for the operator, why it does not. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox | { missing: string }> {
  const pathVariable = options.env["PATH"] ?? "";
  const bwrap = findProgram("bwrap", pathVariable);
  if (bwrap === null)
    return { missing: "bubblewrap, which only Linux has, is not on the PATH: install it, for example with apt-get install bubblewrap." };
  const programs = [options.installation, process.execPath, ...pathVariable.split(path.delimiter).filter(path.isAbsolute)];

  const wrap: Sandbox["wrap"] = ([program = "", ...programArguments], { cwd, tmp, writable }) => {
    const view = viewOf({ hidden: options.hidden, programs: [...programs, program], writable: [...writable, tmp], tmp });
    const waiting = ["/bin/sh", "-c", waitForTheRest, waiterName, program, ...programArguments];
    return [bwrap, ...fixedArguments(), ...view, "--chdir", cwd, "--", ...waiting];
  };

  const { directory } = options;
  const argv = wrap([realpathSync(bwrap), "--version"], { cwd: directory, tmp: directory, writable: [] });
  const { stdout, stderr, exitCode, shortMessage } = await execa(bwrap, argv.slice(1), {
    env: { PATH: pathVariable },
    extendEnv: false,
    stdin: "ignore",
    timeout: CHECK_LIMIT_MS,
    reject: false,
  });
  if (exitCode === 0) return { detail: stdout.trim(), wrap };
  const advice = "allow unprivileged user namespaces, by sysctl or, in a container, by its security options.";
  return { missing: `bubblewrap does not work here: ${advice} ${(stderr || shortMessage || "").trim().slice(-500)}`.trim() };
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
];

interface View {
  hidden: readonly string[];
  programs: readonly string[];
  writable: readonly string[];
  tmp: string;
}

/** What is seen otherwise than read-only; of two places one of which holds the other, the inner decides. */
function viewOf({ hidden, programs, writable, tmp }: View): string[] {
  const masks = realPaths(hidden);
  const outer = masks.filter((mask) => !masks.some((other) => other !== mask && isInside(other, mask)));
  const directories = outer.filter((mask) => statSync(mask).isDirectory());
  const layers = [
    // The task's own, instead of everybody's: what programs leave there goes with the task.
    { place: sharedTmp, mount: ["--bind", realpathSync(tmp), sharedTmp] },
    ...unique(realPaths(programs).flatMap(topInSharedTmp)).map((place) => ({ place, mount: ["--ro-bind", place, place] })),
    ...unique(writable).flatMap((place) =>
      namesOf(place, hidden).map((name) => ({ place: name, mount: ["--bind", realpathSync(place), name] })),
    ),
    ...outer.map((place) => ({ place, mount: directories.includes(place) ? ["--tmpfs", place] : ["--ro-bind", "/dev/null", place] })),
  ];
  // The path of an outer place is the shorter one.
  const mounts = layers.sort((a, b) => a.place.length - b.place.length).flatMap(({ mount }) => mount);
  return [...mounts, ...directories.flatMap((place) => ["--remount-ro", place])];
}

/** Where a directory really lies, and where Bridge has it: links to it are hidden with the directory in which they stand. */
const namesOf = (place: string, hidden: readonly string[]): string[] =>
  unique([
    realpathSync(place),
    ...hidden.filter((mask) => isInside(mask, place)).map((mask) => realpathSync(mask) + place.slice(mask.length)),
  ]);

/** Programs that are installed in the shared temporary directory stay there for the tasks. */
function topInSharedTmp(place: string): string[] {
  const [top] = path.relative(sharedTmp, place).split(path.sep);
  return top === undefined || top === "" || top === ".." ? [] : [path.join(sharedTmp, top)];
}

const realPaths = (places: readonly string[]): string[] =>
  unique(places.filter((place) => existsSync(place)).map((place) => realpathSync(place)));
const unique = (places: readonly string[]): string[] => [...new Set(places)];
const isInside = (outer: string, inner: string): boolean => inner.startsWith(outer + path.sep);
