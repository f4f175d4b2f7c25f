import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { readProc } from "../../adapters/process/process-table.ts";

/**
 * A number that every process of a test run carries, even if it changes its environment, session or parent. It is the hard RLIMIT_RSS: Linux
 * has not enforced that limit since 2.4.30, every child inherits it, and `/proc/<pid>/limits` shows it. Bridge labels the processes of tasks
 * in the same way with RLIMIT_LOCKS, which must stay free for the tests of those labels.
 */
export type RunLabel = number;

/** A run within a run cannot raise the limit again, so its label is lower. */
const HIGHEST = 2 ** 50;
const MAX_STEP = 2 ** 40;

/** Labels this process and thereby all that it starts from now on. Null where labels do not work: without /proc or prlimit. */
export function labelThisProcess(): RunLabel | null {
  if (readProc(() => readFileSync("/proc/self/limits")) === null) return null;
  const label = (readLabel(process.pid) ?? HIGHEST) - randomInt(1, MAX_STEP);
  try {
    execFileSync("prlimit", ["--pid", String(process.pid), `--rss=${label}:${label}`], { stdio: "ignore" });
  } catch {
    return null;
  }
  return label;
}

/** Whether the process carries the label. */
export const hasLabel = (pid: number, label: RunLabel): boolean => readLabel(pid) === label;

function readLabel(pid: number): RunLabel | null {
  const limits = readProc(() => readFileSync(`/proc/${pid}/limits`, "utf8"));
  const hard = /^Max resident set +\S+ +(\d+)/m.exec(limits ?? "")?.[1];
  return hard === undefined ? null : Number(hard);
}
