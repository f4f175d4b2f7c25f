import { taskTypeProperties } from "../profile.ts";
import type { Output, Severity, TaskType, Verdict } from "../types.ts";

/** Returns the verdict over outputs that were not withdrawn; null if the task type has no verdict. FAIL takes precedence over CONCERNS. */
export function judge(taskType: TaskType, outputs: readonly Pick<Output, "severity" | "type">[]): Verdict | null {
  if (!taskTypeProperties[taskType].hasVerdict) return null;
  const count = (severity: Output["severity"], type?: Output["type"]): number =>
    outputs.filter((output) => output.severity === severity && (type === undefined || output.type === type)).length;
  if (count("CRITICAL") > 0) return "FAIL";
  if (taskType === "audit") {
    if (count("HIGH", "compliance-gap") >= 2) return "FAIL";
    return count("HIGH") > 0 || count("MEDIUM", "compliance-gap") > 0 ? "CONCERNS" : "PASS";
  }
  return count("HIGH") > 0 || count("MEDIUM") >= 3 ? "CONCERNS" : "PASS";
}

/** The properties of a finding that determine the verdict. */
export interface WeighedOutput {
  severity: Severity | null;
  type: Output["type"];
  status: Output["status"];
  /** Number of bridges that report it. */
  sources: number;
  /** Whether a bridge with a debate or with several models reported it. */
  isDeep: boolean;
}

/** Returns the verdict of a council over several bridges; null if the task type has no verdict. */
export function judgeCouncil(taskType: TaskType, outputs: readonly WeighedOutput[]): Verdict | null {
  if (!taskTypeProperties[taskType].hasVerdict) return null;
  const standing = outputs.filter(({ status }) => status !== "withdrawn");
  const agreed = standing.filter(({ status }) => status !== "disputed");
  const isCritical = ({ severity }: WeighedOutput): boolean => severity === "CRITICAL";
  const isHigh = ({ severity }: WeighedOutput): boolean => severity === "HIGH";
  if (agreed.some((output) => isCritical(output) && (output.sources >= 2 || output.isDeep))) return "FAIL";
  if (agreed.filter((output) => isHigh(output) && output.sources >= 2).length >= 3) return "FAIL";
  const isGap = ({ type }: WeighedOutput): boolean => taskType === "audit" && type === "compliance-gap";
  // The same rule as in the verdict of one bridge.
  if (agreed.filter((output) => isHigh(output) && isGap(output) && (output.sources >= 2 || output.isDeep)).length >= 2) return "FAIL";
  // The remaining CRITICAL and HIGH findings are disputed or reported by one bridge without a debate.
  if (standing.some((output) => isCritical(output) || isHigh(output))) return "CONCERNS";
  const medium = standing.filter(({ severity }) => severity === "MEDIUM");
  return medium.length >= 3 || medium.some(isGap) ? "CONCERNS" : "PASS";
}
