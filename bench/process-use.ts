import { readdirSync, readFileSync } from "node:fs";

/** Time that all threads of a process have run, in ms, from the scheduler. Linux only. */
export function readCpuTimeMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ", 1)[0]));
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** What a process has passed to write calls (`all`: files, and sockets as far as it uses write) and what of it goes to the disk, in KiB. Linux only. */
export function readWrittenKiB(pid: number): { all: number; disk: number } {
  const counters = readFileSync(`/proc/${pid}/io`, "utf8");
  const read = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(counters)?.[1]) / 1024;
  return { all: read("wchar"), disk: read("write_bytes") };
}

/** Memory of a process in KiB; pages that it shares with other processes count in part. Linux only. */
export function readMemoryKiB(pid: number): number {
  return Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]);
}
