import { readdirSync, readFileSync } from "node:fs";

/** Runtime processes of this data directory: what carries a task's marker and its directories. Looked up without any help of Bridge's own. */
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
    // It has ended meanwhile, or is another user's.
    return false;
  }
}
