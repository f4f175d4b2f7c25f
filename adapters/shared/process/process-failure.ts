import type { ExecutionResult } from "#contract";
import { type ProcessEnd, processLimits } from "./run-process.ts";

/** How much of stderr an error shows: its end. */
const ERROR_TAIL_LENGTH = 4_000;

/** A task that a process could not bring to its end. */
export type ProcessFailure = Required<Pick<ExecutionResult, "errorCode" | "error">> & { status: "error" };

/** What stopped a program before or while it worked, whatever it had to say; null when nothing did. */
export function stopFailure(end: ProcessEnd, limits: Pick<typeof processLimits, "lineBytes" | "stdoutBytes"> = processLimits) {
  if (end.spawnError !== null) return failure("spawn_failed", `The program did not start: ${end.spawnError}`);
  if (end.limit === "lineBytes")
    return failure("output_limit", `The program wrote a line of more than ${mebibytes(limits.lineBytes)} MiB.`);
  if (end.limit === "stdoutBytes") return failure("output_limit", `The program wrote more than ${mebibytes(limits.stdoutBytes)} MiB.`);
  return null;
}

/** What the exit of a program that has reported nothing means. */
export function exitFailure(end: ProcessEnd): ProcessFailure {
  if (end.aborted) return failure("cancelled", "The task was cancelled.");
  const how = end.exitSignal === null ? `exited with code ${end.exitCode}` : `was ended by ${end.exitSignal}`;
  return failure("runtime_crashed", `The program ${how}. ${end.stderr.trim().slice(-ERROR_TAIL_LENGTH)}`.trim());
}

const mebibytes = (bytes: number): number => bytes / 1024 ** 2;

function failure(errorCode: ProcessFailure["errorCode"], error: string): ProcessFailure {
  return { status: "error", errorCode, error };
}
