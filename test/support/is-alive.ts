import { readFileSync } from "node:fs";

/** Whether the process runs. A zombie has ended; its parent has only not collected its status yet. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat[stat.lastIndexOf(")") + 2] !== "Z";
  } catch {
    return false;
  }
}
