import { readdirSync, readFileSync } from "node:fs";

/** Sums a figure of a process and of its children, such as the connections of a PostgreSQL server. Linux only. */
export function sumWithChildren(pid: number, read: (pid: number) => number): number {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return processes.reduce((sum, other) => sum + readUnlessEnded(() => (readParent(other) === pid ? read(Number(other)) : 0)), read(pid));
}

const readParent = (pid: string): number => Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

/** Returns 0 if the process has ended, which removes its files in `/proc`. */
function readUnlessEnded(read: () => number): number {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return 0;
    throw error;
  }
}

/** Reads the time that all threads of a process have run, in ms, from the scheduler. Linux only. */
export function readCpuTimeMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ", 1)[0]));
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** The unit of times in `/proc/<pid>/stat`. */
const TICK_MS = 10;

/**
 * Reads the CPU time of a process, its children, and its children that have ended, in ms. Without the last ones, the sum would decrease
 * when PostgreSQL closes a connection. Linux only.
 */
export function readCpuTimeWithChildrenMs(pid: number): number {
  // The fields after the name, which is in parentheses, begin with the third one. The times of ended children are fields 16 and 17.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return sumWithChildren(pid, readCpuTimeMs) + (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

/**
 * Reads how much a process has written, in KiB. `all`: all bytes that it passed to write calls, to files and sockets. `disk`: the part that
 * goes to the disk. Linux only.
 */
export function readWrittenKiB(pid: number): { all: number; disk: number } {
  const counters = readFileSync(`/proc/${pid}/io`, "utf8");
  const read = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(counters)?.[1]) / 1024;
  return { all: read("wchar"), disk: read("write_bytes") };
}

/** Reads the memory of a process in KiB; pages that it shares with other processes count in part. Linux only. */
export function readMemoryKiB(pid: number): number {
  return Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]);
}
