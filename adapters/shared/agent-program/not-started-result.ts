import type { Connection, ExecutionResult, TaskErrorCode } from "#contract";

/** The result of a task for which nothing was started; the connection is the one that would have been. */
export const notStartedResult = (connection: Connection, errorCode: TaskErrorCode, error: string): ExecutionResult => ({
  status: "error",
  errorCode,
  error,
  durationMs: 0,
  connection,
});
