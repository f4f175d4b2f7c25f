import type { TaskErrorCode } from "#contract";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { simplifyErrorMessage } from "../shared/agent-program/simplify-error-message.ts";
import { failure } from "../shared/process/failure.ts";
import { isRateLimitMessage } from "../shared/process/rate-limit-message.ts";

/** The last error that Gemini reported. */
export interface ReportedError {
  type?: string | undefined;
  message: string;
}

/** Exit codes that Gemini defines. Other exit codes above 128 are the lowest eight bits of an HTTP status. */
const EXIT_CODES: Readonly<Record<number, readonly [TaskErrorCode, string]>> = {
  41: ["authentication_required", "Gemini has no credentials: set GEMINI_API_KEY, or sign in and set BRIDGE_GEMINI_HOME=user."],
  42: ["adapter_error", "Gemini rejected its input. Only the same agent can resume a session, and only in the same directory."],
  44: ["adapter_error", "Gemini could not start its sandbox."],
  52: ["adapter_error", "Gemini's configuration is not valid."],
  53: ["max_turns", "Gemini reached the maximum number of model calls per task."],
  55: ["adapter_error", "Gemini does not trust the task's directory."],
};
const HTTP_STATUSES: Readonly<Record<number, readonly [TaskErrorCode, string]>> = {
  401: ["authentication_required", "The Gemini API rejected the credentials (401). Check GEMINI_API_KEY."],
  403: ["authentication_required", "The credentials do not allow access to this model or API of Gemini (403)."],
  404: ["model_error", "The Gemini API does not have this model (404)."],
  429: ["rate_limited", "The rate limit or quota of the Gemini API is exceeded (429)."],
};
/** Statuses that the Gemini API returns. */
const KNOWN_STATUSES = [400, 401, 403, 404, 408, 409, 429, 500, 501, 502, 503, 504];

/** Maps an exit without a reported success to an outcome; null if neither the exit code nor an error explains it. */
export function explainFailure(exitCode: number | null, reported: ReportedError | undefined, stderr: string): Outcome | null {
  const exit = reported?.type === "FatalTurnLimitedError" ? EXIT_CODES[53] : EXIT_CODES[exitCode ?? 0];
  const status = findStatus(exitCode, reported) ?? (isRateLimitMessage(reported?.message ?? "") ? 429 : null);
  const [errorCode, message] = exit ?? HTTP_STATUSES[status ?? 0] ?? ["model_error" as const, "Gemini could not answer."];
  const detail = reported === undefined ? (exit === undefined ? "" : lastLineOf(stderr)) : simplifyErrorMessage(reported.message);
  if (exit === undefined && reported === undefined && status === null) return null;
  return failure(errorCode, `${message} ${detail}`.trim());
}

/** Finds the HTTP status: in the message, if Gemini repeats the response of the API, or else in the exit code. */
function findStatus(exitCode: number | null, reported: ReportedError | undefined): number | null {
  const code = /"code":\s*(\d{3})\b/.exec(reported?.message ?? "")?.[1];
  if (code !== undefined) return Number(code);
  return KNOWN_STATUSES.find((status) => status % 256 === exitCode) ?? null;
}

const lastLineOf = (text: string): string => text.trim().split("\n").at(-1) ?? "";
