import { type ExecFileException, execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { findProgram } from "./find-program.ts";
import { readProc } from "./process-table.ts";

/**
 * A number that identifies a process and all its descendants, even if they change their environment, session or parent. It is their hard
 * RLIMIT_LOCKS: Linux has not enforced that limit since 2.4.25, every child inherits it, `/proc/<pid>/limits` shows it, and an ordinary
 * process cannot raise it again.
 */
export type ProcessLabel = bigint;

/** A random number in the upper bits of all labels of one Bridge process. */
export type LabelFamily = bigint;

/** Creates the labels of this Bridge process. */
export interface ProcessLabels {
  family: LabelFamily;
  /** Returns a unique label, and the argument list that starts a program with it. */
  next(argv: readonly string[]): { label: ProcessLabel; argv: string[] };
}

/** At 100 processes per second, labels repeat after two days. A task takes at most one day. */
const COUNTER_BITS = 24n;
const MAX_FAMILY = 2 ** 38;
/** Exit codes of prlimit: the program or its interpreter does not exist; the program is not executable. */
const EXIT_NOT_FOUND = 127;
const EXIT_NOT_EXECUTABLE = 126;
/** Generous, because a host under load starts processes slowly. */
const CHECK_LIMIT_MS = 10_000;

const family: LabelFamily = BigInt(randomInt(1, MAX_FAMILY));
let count = 0n;
let labels: Promise<ProcessLabels | { missing: string }> | undefined;

/** Returns the labels, or the reason why they do not work on this host. Checked once. */
export function getProcessLabels(): Promise<ProcessLabels | { missing: string }> {
  labels ??= checkLabels();
  return labels;
}

/** The program to label. */
export interface LabeledCommand {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  sandbox: object | null;
}

/** Labels a program, so that a sweep finds its descendants. A sandbox needs no label, because the kernel ends its processes. */
export async function labelCommand({
  argv,
  cwd,
  env,
  sandbox,
}: LabeledCommand): Promise<{ argv: readonly string[]; label: ProcessLabel | null }> {
  if (sandbox !== null) return { argv, label: null };
  const [name = ""] = argv;
  const program = findProgram(name.includes(path.sep) ? path.resolve(cwd, name) : name, env["PATH"] ?? "");
  const hostLabels = await getProcessLabels();
  // A program that does not exist starts without a label, so that it fails with the error of the operating system.
  return program === null || "missing" in hostLabels ? { argv, label: null } : hostLabels.next(argv);
}

/** Returns the label of a process; null if it has none or has ended. */
export function readLabel(pid: number): ProcessLabel | null {
  const limits = readProc(() => readFileSync(`/proc/${pid}/limits`, "utf8"));
  return limits === null ? null : parseLabel(limits);
}

/** Returns the family of a label. */
export const familyOf = (label: ProcessLabel): LabelFamily => label >> COUNTER_BITS;

/** Returns why prlimit could not execute a labeled program, in the words of a failed spawn; null if the program was executed. */
export function parseLabeledSpawnError(name: string, exitCode: number | null, stderr: string): string | null {
  if (!stderr.startsWith("prlimit: ")) return null;
  if (exitCode === EXIT_NOT_FOUND) return `spawn ${name} ENOENT`;
  return exitCode === EXIT_NOT_EXECUTABLE ? `spawn ${name}: ${stderr.slice(stderr.lastIndexOf(": ") + 2).trim()}` : null;
}

async function checkLabels(): Promise<ProcessLabels | { missing: string }> {
  const own = readProc(() => readFileSync("/proc/self/limits", "utf8"));
  if (own === null) return { missing: "there is no /proc, so processes that a task leaves behind cannot be found" };
  // The operator has set the limit, or another Bridge that runs this one as a task. That Bridge could not find processes with other labels.
  if (parseLabel(own) !== null) return { missing: "the limit on file locks (ulimit -x) is in use; it must be unlimited" };
  const pathVariable = process.env["PATH"] ?? "";
  const prlimit = findProgram("prlimit", pathVariable);
  if (prlimit === null) return { missing: "prlimit is not on the PATH; install util-linux" };

  const next: ProcessLabels["next"] = (argv) => {
    const label = (family << COUNTER_BITS) + (count++ % (1n << COUNTER_BITS));
    return { label, argv: [prlimit, `--locks=${label}:${label}`, "--", ...argv] };
  };
  const { label, argv } = next(["cat", "/proc/self/limits"]);
  const [program = "", ...programArguments] = argv;
  // Not with execa, because every start checks the labels, and loading execa takes 4 MB of memory.
  const check = await promisify(execFile)(program, programArguments, { env: { PATH: pathVariable }, timeout: CHECK_LIMIT_MS }).catch(
    ({ stderr = "", message }: ExecFileException) => ({ stdout: "", stderr: stderr || message }),
  );
  if (parseLabel(check.stdout) === label) return { family, next };
  return { missing: `prlimit cannot set the limit on file locks here: ${check.stderr.trim().slice(-500)}` };
}

function parseLabel(limits: string): ProcessLabel | null {
  const hard = /^Max file locks +\S+ +(\d+)/m.exec(limits)?.[1];
  return hard === undefined ? null : BigInt(hard);
}
