import { BridgeClientError, type Task } from "bridge-client";
import { CommandError } from "./command-error.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

const byStatus: Readonly<Record<number, ExitCode>> = {
  400: exitCodes.usage,
  401: exitCodes.forbidden,
  403: exitCodes.forbidden,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  413: exitCodes.usage,
  422: exitCodes.usage,
  429: exitCodes.unreachable,
  502: exitCodes.unreachable,
  503: exitCodes.unreachable,
  504: exitCodes.unreachable,
};

/** Returns the exit code for an error. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof CommandError) return exitCodes[error.kind];
  if (!(error instanceof BridgeClientError)) return exitCodes.failed;
  return error.code === "unreachable" ? exitCodes.unreachable : (byStatus[error.status ?? 0] ?? exitCodes.failed);
}

/** Returns the exit code for an ended task. */
export function exitCodeOfTask({ state, errorCode }: Pick<Task, "state" | "errorCode">): ExitCode {
  if (state === "completed") return exitCodes.done;
  if (state === "cancelled") return exitCodes.canceled;
  return errorCode === "authentication_required" || errorCode === "user_action_required" ? exitCodes.needsPerson : exitCodes.failed;
}
