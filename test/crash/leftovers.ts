import { readdirSync, readFileSync } from "node:fs";

/** The runtime processes of this data directory, which have a task's marker and its directories. Uses no code of Bridge. */
export function findRuntimes(dataDir: string): number[] {
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
