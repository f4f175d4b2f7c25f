import type { SkippedRuntime } from "bridge-council";
import { type TaskErrorCode, taskErrorCodes } from "#contract";
import { type Failure, failure } from "../shared/process/failure.ts";

/** If any runtime reports one of these codes, the council fails with it. The most important code is the first. */
const DECISIVE_CODES: readonly TaskErrorCode[] = ["output_invalid", "authentication_required", "user_action_required"];

/** Creates the failure of a council in which no role answered, from the reasons of its runtimes. */
export function createUnansweredFailure(summary: string, reasons: readonly SkippedRuntime[]): Failure {
  const codes = reasons.map(({ reason }) => codeOf(reason));
  const code = DECISIVE_CODES.find((decisive) => codes.includes(decisive)) ?? codes.find((other) => other !== "adapter_offline");
  return failure(
    code ?? "adapter_offline",
    [summary, ...reasons.map(({ bridge, reason }) => `${bridge}: ${reason.replace(/\.$/, "")}.`)].join(" "),
  );
}

/** Returns the code at the beginning of a reason. If Bridge did not ask the runtime, the reason has no code. */
const codeOf = (reason: string): TaskErrorCode => taskErrorCodes.find((code) => reason.startsWith(code)) ?? "adapter_offline";
