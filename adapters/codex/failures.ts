import type { TaskErrorCode } from "#contract";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import { isRateLimitMessage } from "../shared/process/rate-limit-message.ts";

/** Advice for missing or rejected credentials. */
export const CREDENTIALS_ADVICE = "set OPENAI_API_KEY or CODEX_API_KEY, or BRIDGE_CODEX_HOME=user to use your own login";

/** Advice for a missing login with BRIDGE_CODEX_HOME=user. */
export const LOGIN_ADVICE = "run codex login, or set OPENAI_API_KEY or CODEX_API_KEY";

/** Error codes by the text of the message, because Codex reports no codes and omits the HTTP status of some errors. */
const MESSAGE_PATTERNS: readonly (readonly [RegExp, TaskErrorCode])[] = [
  [/status:? 40[13]\b|missing environment variable|not logged in|log ?in again|sign in again|access token/i, "authentication_required"],
  [/session budget/i, "budget_exceeded"],
];

/** Maps the error message of a failed turn to an outcome. */
export function explainFailure(message: string): Outcome {
  const matchedCode = MESSAGE_PATTERNS.find(([pattern]) => pattern.test(message))?.[1];
  const errorCode = matchedCode ?? (isRateLimitMessage(message) ? "rate_limited" : "model_error");
  const advice = errorCode === "authentication_required" ? `. To log in, ${CREDENTIALS_ADVICE}.` : "";
  return failure(errorCode, `Codex reports: ${extractMessage(message)}${advice}`);
}

/** Extracts the message if the error is the whole JSON response of the API. */
function extractMessage(message: string): string {
  try {
    const { error } = JSON.parse(message) as { error?: { message?: unknown } };
    return typeof error?.message === "string" ? error.message : message;
  } catch {
    return message;
  }
}
