import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { kill } from "node:process";

/** A process at one moment, read from /proc. */
export interface FoundProcess {
  pid: number;
  state: string;
  parent: number;
  /** Its process group. */
  group: number;
  /** Clock ticks since boot. The pid and the start time identify a process. */
  startTime: string;
}

/** Returns the pids of all processes except this one; empty without /proc. */
export function listPids(): number[] {
  const names = readProc(() => readdirSync("/proc")) ?? [];
  return names.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/** Reads a process; null if it does not exist. The fields are parsed after the name, which can contain any character. */
export function readProcess(pid: number): FoundProcess | null {
  const stat = readProc(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  const [state, parent, group, ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  const startTime = rest[16];
  if (state === undefined || startTime === undefined) return null;
  return { pid, state, parent: Number(parent), group: Number(group), startTime };
}

/** Returns whether the process still runs. The start time detects a pid that has been reused. A zombie has ended. */
export function isAlive({ pid, startTime }: FoundProcess): boolean {
  const now = readProcess(pid);
  return now?.startTime === startTime && !hasEnded(now);
}

/** Returns whether the process has ended and only waits for its parent to reap it. */
export const hasEnded = ({ state }: FoundProcess): boolean => state === "Z" || state === "X";

/** Sends a signal. Does nothing if the process has ended or belongs to another user. */
export function sendSignal(process: FoundProcess, name: NodeJS.Signals): void {
  if (!isAlive(process)) return;
  try {
    kill(process.pid, name);
  } catch (error) {
    if (!isCode(error, "ESRCH", "EPERM")) throw error;
  }
}

/** A file descriptor in reserve; see `readProc`. */
let spareDescriptor: number | null = null;

/**
 * Reads from /proc. Returns null if the process has ended or belongs to another user, or if there is no /proc. If all file
 * descriptors are in use, the read uses the spare one. Without it a sweep would fail, and the processes of an ended task
 * would keep running.
 */
export function readProc<T>(read: () => T): T | null {
  spareDescriptor ??= openSpareDescriptor();
  try {
    return readIfExists(read);
  } catch (error) {
    if (spareDescriptor === null || !isCode(error, "EMFILE", "ENFILE")) throw error;
    closeSync(spareDescriptor);
    try {
      return readIfExists(read);
    } finally {
      spareDescriptor = openSpareDescriptor();
    }
  }
}

function readIfExists<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isCode(error, "ENOENT", "ESRCH", "EACCES", "EPERM", "ENOTDIR")) return null;
    throw error;
  }
}

function openSpareDescriptor(): number | null {
  try {
    return openSync("/", "r");
  } catch {
    return null;
  }
}

const isCode = (error: unknown, ...codes: string[]): boolean => codes.includes((error as NodeJS.ErrnoException).code ?? "");
