import { MAX_MESSAGE_VALUES } from "#contract";
import { type Failure, failure } from "./failure.ts";
import { PROCESS_LIMITS, type ProcessEnd } from "./run-process.ts";

/** Maximum number of characters of stderr, from its end, in an error message. */
const ERROR_TAIL_LENGTH = 4_000;

/**
 * Returns the failure of a program that did not start or exceeded a limit; null otherwise. It takes precedence over the outcome that the
 * program reported.
 */
export function stopFailure(end: ProcessEnd, limits: Pick<typeof PROCESS_LIMITS, "lineBytes" | "stdoutBytes"> = PROCESS_LIMITS) {
  const { program } = end;
  if (end.spawnError !== null) return failure("spawn_failed", `The program ${program} did not start: ${end.spawnError}`);
  if (end.limit === "lineBytes")
    return failure(
      "output_limit",
      `The program ${program} wrote a line of more than ${mebibytes(limits.lineBytes)} MiB, or of JSON with more than ${MAX_MESSAGE_VALUES} values.`,
    );
  if (end.limit === "stdoutBytes")
    return failure("output_limit", `The program ${program} wrote more than ${mebibytes(limits.stdoutBytes)} MiB to stdout.`);
  return null;
}

/** Returns the failure of a program that exited without reporting an outcome. */
export function exitFailure(end: ProcessEnd): Failure {
  if (end.aborted) return failure("cancelled", "The task was canceled.");
  const how = end.exitSignal === null ? `exited with code ${end.exitCode}` : `was killed by ${end.exitSignal}`;
  return failure("runtime_crashed", `The program ${end.program} ${how}. ${end.stderr.trim().slice(-ERROR_TAIL_LENGTH)}`.trim());
}

const mebibytes = (bytes: number): number => bytes / 1024 ** 2;
