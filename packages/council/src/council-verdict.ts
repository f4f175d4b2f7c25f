import { framings } from "./profile.ts";
import type { Output, Severity, TaskType, Verdict } from "./words.ts";

/** One thing that the council has found, as its verdict weighs it. */
export interface WeighedOutput {
  severity: Severity | null;
  type: Output["type"];
  status: Output["status"];
  /** How many bridges say so. */
  sources: number;
  /** Was it found by a bridge that has debated, or runs several models? */
  isDeep: boolean;
}

/** The verdict of a council over several bridges; null where the type of work has none. */
export function judgeCouncil(taskType: TaskType, outputs: readonly WeighedOutput[]): Verdict | null {
  if (!framings[taskType].hasVerdict) return null;
  const standing = outputs.filter(({ status }) => status !== "withdrawn");
  const agreed = standing.filter(({ status }) => status !== "disputed");
  const isCritical = ({ severity }: WeighedOutput): boolean => severity === "CRITICAL";
  const isHigh = ({ severity }: WeighedOutput): boolean => severity === "HIGH";
  if (agreed.some((output) => isCritical(output) && (output.sources >= 2 || output.isDeep))) return "FAIL";
  if (agreed.filter((output) => isHigh(output) && output.sources >= 2).length >= 3) return "FAIL";
  const isGap = ({ type }: WeighedOutput): boolean => taskType === "audit" && type === "compliance-gap";
  // An audit is as strict here as each bridge is.
  if (agreed.filter((output) => isHigh(output) && isGap(output) && (output.sources >= 2 || output.isDeep)).length >= 2) return "FAIL";
  // What is left of CRITICAL and HIGH is disputed, or one shallow bridge's word.
  if (standing.some((output) => isCritical(output) || isHigh(output))) return "CONCERNS";
  const medium = standing.filter(({ severity }) => severity === "MEDIUM");
  return medium.length >= 3 || medium.some(isGap) ? "CONCERNS" : "PASS";
}
