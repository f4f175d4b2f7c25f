import type { ExecutionResult, TaskErrorCode } from "#contract";

/** Returns the result of a task that failed without a runtime. */
export function failedResult(
  errorCode: Extract<TaskErrorCode, "cancelled" | "adapter_offline" | "adapter_error" | "bridge_restarted">,
  error: string,
): ExecutionResult {
  return { status: "error", durationMs: 0, errorCode, error, connection: "in-process" };
}
