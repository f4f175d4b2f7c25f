import { readdirSync, readFileSync } from "node:fs";

/** Finds runtime processes of this data directory by the task's marker and directories, without using code of Bridge. */
export function findRuntimeProcesses(dataDir: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isRuntime(pid, dataDir));
}

function isRuntime(pid: number, dataDir: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return (
      environment.some((entry) => entry.startsWith("BRIDGE_TASK_ID=")) &&
      environment.some((entry) => entry.startsWith(`TMPDIR=${dataDir}/`))
    );
  } catch {
    // The process has ended, or belongs to another user.
    return false;
  }
}
