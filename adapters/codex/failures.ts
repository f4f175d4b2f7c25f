import type { TaskErrorCode } from "#contract";
import type { Verdict } from "../shared/agent-program/run-program.ts";

/** What to do about missing or rejected credentials. */
export const credentialsAdvice = "set OPENAI_API_KEY or CODEX_API_KEY, or BRIDGE_CODEX_HOME=user to use your own login";

/** How Codex words what went wrong; it gives no codes, and hides the status of some. */
const wordings: readonly (readonly [RegExp, TaskErrorCode])[] = [
  [/status:? 40[13]\b|missing environment variable|not logged in|log ?in again|sign in again|access token/i, "authentication_required"],
  [/status:? 429\b|rate limit|usage limit|quota/i, "rate_limited"],
  [/session budget/i, "budget_exceeded"],
];

/** What an error means that Codex tells of its turn. */
export function explainFailure(message: string): Verdict {
  const errorCode = wordings.find(([wording]) => wording.test(message))?.[1] ?? "model_error";
  const advice = errorCode === "authentication_required" ? `. To log in, ${credentialsAdvice}.` : "";
  return { status: "error", errorCode, error: `Codex reports: ${readable(message)}${advice}` };
}

/** Some errors are the vendor's whole answer. */
function readable(message: string): string {
  try {
    const { error } = JSON.parse(message) as { error?: { message?: unknown } };
    return typeof error?.message === "string" ? error.message : message;
  } catch {
    return message;
  }
}
