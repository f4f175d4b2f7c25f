import type { ExecutionResult, TaskErrorCode } from "#contract";

/** Returns the result of a task that failed without a runtime. */
export function failedResult(errorCode: TaskErrorCode, error: string): ExecutionResult {
  return { status: "error", durationMs: 0, errorCode, error, connection: "in-process" };
}
