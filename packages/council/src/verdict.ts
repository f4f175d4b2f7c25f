import { framings } from "./profile.ts";
import type { Output, TaskType, Verdict } from "./words.ts";

/** The verdict over outputs that were not withdrawn; null where the type of work has none. FAIL is tried first, then CONCERNS. */
export function judge(taskType: TaskType, outputs: readonly Pick<Output, "severity" | "type">[]): Verdict | null {
  if (!framings[taskType].hasVerdict) return null;
  const count = (severity: Output["severity"], type?: Output["type"]): number =>
    outputs.filter((output) => output.severity === severity && (type === undefined || output.type === type)).length;
  if (count("CRITICAL") > 0) return "FAIL";
  if (taskType === "audit") {
    if (count("HIGH", "compliance-gap") >= 2) return "FAIL";
    return count("HIGH") > 0 || count("MEDIUM", "compliance-gap") > 0 ? "CONCERNS" : "PASS";
  }
  return count("HIGH") > 0 || count("MEDIUM") >= 3 ? "CONCERNS" : "PASS";
}
