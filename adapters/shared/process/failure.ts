import type { TaskErrorCode } from "#contract";

/** The outcome of a failed task. */
export interface Failure {
  status: "error";
  errorCode: TaskErrorCode;
  /** The message for the caller: one or two sentences. */
  error: string;
}

/** Creates the outcome of a failed task. */
export const failure = (errorCode: TaskErrorCode, error: string): Failure => ({ status: "error", errorCode, error });
