import { readdirSync, readFileSync } from "node:fs";

/** Time that all threads of a process have run, in ms. Linux only. */
export function readCpuTimeMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ", 1)[0]));
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** The amount of data that a process has written to the disk, in KiB. Linux only. */
export function readWrittenKiB(pid: number): number {
  const line = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"));
  return Number(line?.[1]) / 1024;
}
