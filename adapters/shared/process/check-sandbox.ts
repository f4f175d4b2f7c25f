import { accessSync, constants, lstatSync, realpathSync } from "node:fs";
import { execa } from "execa";
import type { Sandbox } from "#contract";

/** A machine under load may be slow to make a few namespaces. */
const CHECK_LIMIT_MS = 10_000;
/** Maximum number of files that an error names. */
const MAX_NAMED = 5;

/** The memory of the sandbox's init. Who may open it may also trace the init. */
const INIT_MEMORY = "/proc/1/mem";

/** Prints the version of bwrap, the memory of the init when it can be opened, and each file of the kernel that may be written to, which it does not open. */
const printWritable = `
"$0" --version || exit 1
if (: < ${INIT_MEMORY}) 2>/dev/null; then echo ${INIT_MEMORY}; fi
command -v find >/dev/null || exit 1
find /proc /proc/self/net/ -path '/proc/[0-9]*' -prune -o -type f -print 2>/dev/null |
  while IFS= read -r file; do if test -w "$file"; then echo "$file"; fi; done`;

/** Runs bwrap in its own sandbox and looks for what a task could do to the kernel's settings and to the init; `detail` is its version, `missing` the reason why it cannot be used. */
export async function checkSandbox(
  wrap: Sandbox["wrap"],
  { bwrap, directory, pathVariable }: { bwrap: string; directory: string; pathVariable: string },
): Promise<{ detail: string } | { missing: string }> {
  let argv: string[];
  try {
    argv = wrap(["/bin/sh", "-c", printWritable, realpathSync(bwrap)], { cwd: directory, tmp: directory, writable: [] });
  } catch (error) {
    return { missing: (error as Error).message };
  }
  const [program = "", ...programArguments] = argv;
  const { stdout, stderr, exitCode, shortMessage } = await execa(program, programArguments, {
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
  if (writable.includes(INIT_MEMORY)) {
    const advice = "install unshare of util-linux 2.35 or later and allow nested user namespaces, or set kernel.yama.ptrace_scope to 1.";
    return { missing: `a task could take control of the first process of its sandbox and outlive Bridge: ${advice}` };
  }
  const settings = writable.filter(isSettingOfTheMachine);
  if (settings.length === 0) return { detail };
  const more = settings.length > MAX_NAMED ? ` and ${settings.length - MAX_NAMED} more` : "";
  const named = `${settings.slice(0, MAX_NAMED).join(", ")}${more}`;
  return { missing: `a task in the sandbox could write to ${named}: run Bridge as a user who cannot.` };
}

/**
 * Settings of the task's own namespaces do not count, because Bridge's user cannot write to them outside. For root every file counts, even one that
 * is read-only outside, as in a container.
 */
function isSettingOfTheMachine(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return (lstatSync(file).mode & EVERYBODY_WRITES) === 0;
  } catch {
    return process.getuid?.() === 0;
  }
}

/** A file that every user of the host may write to does not count as a setting. */
const EVERYBODY_WRITES = 0o002;
