import type { Connection, ExecutionResult, TaskErrorCode } from "#contract";

/** The outcome of a failed task. */
export interface Failure {
  status: "error";
  errorCode: TaskErrorCode;
  /** The message for the caller: one or two sentences. */
  error: string;
}

/** Creates the outcome of a failed task. */
export const failure = (errorCode: TaskErrorCode, error: string): Failure => ({ status: "error", errorCode, error });

/** Creates the result of a task that failed before it started, with the connection that it would have used. */
export const createNotStartedResult = (connection: Connection, errorCode: TaskErrorCode, error: string): ExecutionResult => ({
  ...failure(errorCode, error),
  durationMs: 0,
  connection,
});
