import { accessSync, constants, lstatSync, realpathSync } from "node:fs";
import type { Sandbox } from "#contract";

/** Generous, because a host under load creates namespaces slowly. */
const CHECK_LIMIT_MS = 10_000;
/** Maximum number of files that an error lists. */
const MAX_LISTED_FILES = 5;

/** The memory of the sandbox's init process. A process that can open it can also trace the init process. */
const INIT_MEMORY = "/proc/1/mem";

/** Prints the version of bwrap, INIT_MEMORY if it can be opened, and the kernel's files that are writable, without opening them. */
const PRINT_WRITABLE = `
"$0" --version || exit 1
if (: < ${INIT_MEMORY}) 2>/dev/null; then echo ${INIT_MEMORY}; fi
command -v find >/dev/null || exit 1
find /proc /proc/self/net/ -path '/proc/[0-9]*' -prune -o -type f -print 2>/dev/null |
  while IFS= read -r file; do if test -w "$file"; then echo "$file"; fi; done`;

/**
 * Runs bwrap in its own sandbox and checks that a task cannot change kernel settings or control the init process. Returns the
 * version of bwrap as `detail`, or the reason of the failure as `missing`.
 */
export async function checkSandbox(
  wrap: Sandbox["wrap"],
  { bwrap, directory, pathVariable }: { bwrap: string; directory: string; pathVariable: string },
): Promise<{ detail: string } | { missing: string }> {
  let argv: string[];
  try {
    argv = wrap(["/bin/sh", "-c", PRINT_WRITABLE, realpathSync(bwrap)], { cwd: directory, tmp: directory, writable: [] });
  } catch (error) {
    return { missing: (error as Error).message };
  }
  const [program = "", ...programArguments] = argv;
  // Loaded when it is needed, because it takes 4 MB of memory.
  const { execa } = await import("execa");
  const { stdout, stderr, exitCode, shortMessage } = await execa(program, programArguments, {
    env: { PATH: pathVariable },
    extendEnv: false,
    stdin: "ignore",
    timeout: CHECK_LIMIT_MS,
    reject: false,
  });
  if (exitCode !== 0) {
    const advice = "allow unprivileged user namespaces, by sysctl or, in a container, by its security options.";
    return { missing: `bubblewrap does not work on this host: ${advice} ${(stderr || shortMessage || "").trim().slice(-500)}`.trim() };
  }
  const [detail = "", ...writable] = stdout.trim().split("\n");
  if (writable.includes(INIT_MEMORY)) {
    const advice = "install unshare of util-linux 2.35 or later and allow nested user namespaces, or set kernel.yama.ptrace_scope to 1.";
    return { missing: `a task could take control of the first process of its sandbox and outlive Bridge: ${advice}` };
  }
  const settings = writable.filter(isHostSetting);
  if (settings.length === 0) return { detail };
  const more = settings.length > MAX_LISTED_FILES ? ` and ${settings.length - MAX_LISTED_FILES} more` : "";
  const files = `${settings.slice(0, MAX_LISTED_FILES).join(", ")}${more}`;
  return { missing: `a task in the sandbox could write to ${files}: run Bridge as a user who cannot.` };
}

/**
 * Returns whether a file that is writable in the sandbox is a setting of the host. Settings of the task's own namespaces are not: outside
 * the sandbox, Bridge's user cannot write to them. For root, a file that is read-only outside counts too, as in a container.
 */
function isHostSetting(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return (lstatSync(file).mode & WORLD_WRITABLE) === 0;
  } catch {
    return process.getuid?.() === 0;
  }
}

/** Mode bit of files that every user may write to. Such a file is not a setting. */
const WORLD_WRITABLE = 0o002;
