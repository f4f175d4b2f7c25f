import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { readProc } from "../../adapters/shared/process/process-table.ts";

/**
 * A number that every process of a test run carries, even if it changes its environment, session or parent. It is the hard RLIMIT_RSS:
 * Linux has not enforced that limit since 2.4.30, every child inherits it, and `/proc/<pid>/limits` shows it. Bridge labels the processes
 * of tasks in the same way with RLIMIT_LOCKS, which must stay free for the tests of those labels.
 */
export type RunLabel = number;

/** Labels of runs are multiples of this. A run that a test starts cannot raise the limit again, so its label is a little lower. */
const STEP = 2 ** 20;
const MAX_RUN = 2 ** 30;
const MAX_NESTED = 1_000;

/** Labels this process and all processes that it starts later. Returns null if labels do not work: without /proc or prlimit. */
export function labelThisProcess(): RunLabel | null {
  if (readProc(() => readFileSync("/proc/self/limits")) === null) return null;
  const outer = readLabel(process.pid);
  const label = outer === null ? randomInt(1, MAX_RUN) * STEP : outer - randomInt(1, MAX_NESTED);
  try {
    execFileSync("prlimit", ["--pid", String(process.pid), `--rss=${label}:${label}`], { stdio: "ignore" });
  } catch {
    return null;
  }
  return label;
}

/** Whether the process belongs to the run, or to a run that one of its tests started. */
export function hasLabel(pid: number, label: RunLabel): boolean {
  const found = readLabel(pid);
  if (found === null || label % STEP !== 0) return found === label;
  return found <= label && found > label - STEP;
}

function readLabel(pid: number): RunLabel | null {
  const limits = readProc(() => readFileSync(`/proc/${pid}/limits`, "utf8"));
  const hard = /^Max resident set +\S+ +(\d+)/m.exec(limits ?? "")?.[1];
  return hard === undefined ? null : Number(hard);
}
