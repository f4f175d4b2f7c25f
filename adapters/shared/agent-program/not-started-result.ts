import type { Connection, ExecutionResult, TaskErrorCode } from "#contract";
import { failure } from "../process/failure.ts";

/** The result of a task that failed before it started, with the connection that it would have used. */
export const notStartedResult = (connection: Connection, errorCode: TaskErrorCode, error: string): ExecutionResult => ({
  ...failure(errorCode, error),
  durationMs: 0,
  connection,
});
