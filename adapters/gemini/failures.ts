import type { TaskErrorCode } from "#contract";
import { readableError } from "../shared/agent-program/readable-error.ts";
import type { Outcome } from "../shared/agent-program/run-program.ts";

/** The error that the program told last. */
export interface ToldError {
  type?: string | undefined;
  message: string;
}

/** Exit codes of the program's own; all others above 128 are a status of HTTP, of which a process keeps the lowest eight bits. */
const ownExits: Readonly<Record<number, readonly [TaskErrorCode, string]>> = {
  41: ["authentication_required", "Gemini has no credentials: set GEMINI_API_KEY, or sign in and set BRIDGE_GEMINI_HOME=user."],
  42: ["adapter_error", "Gemini did not take its input. A session can be resumed only by the same agent in the same directory."],
  44: ["adapter_error", "Gemini could not start its sandbox."],
  52: ["adapter_error", "Gemini's configuration is not valid."],
  53: ["max_turns", "Gemini reached the limit of model calls of one task."],
  55: ["adapter_error", "Gemini does not trust the directory of the task."],
};
const statuses: Readonly<Record<number, readonly [TaskErrorCode, string]>> = {
  401: ["authentication_required", "Gemini's API does not accept the credentials (401): check GEMINI_API_KEY."],
  403: ["authentication_required", "The credentials may not use this model or API of Gemini (403)."],
  404: ["model_error", "Gemini does not know the model (404)."],
  429: ["rate_limited", "Gemini's API is over its rate limit or quota (429)."],
};
/** Statuses that the vendor answers with. */
const knownStatuses = [400, 401, 403, 404, 408, 409, 429, 500, 501, 502, 503, 504];

/** What the end of the program means when it has not told of success; null when nothing explains it. */
export function explainFailure(exitCode: number | null, told: ToldError | undefined, stderr: string): Outcome | null {
  const own = told?.type === "FatalTurnLimitedError" ? ownExits[53] : ownExits[exitCode ?? 0];
  const status = statusOf(exitCode, told);
  const [errorCode, words] = own ?? statuses[status ?? 0] ?? ["model_error" as const, "Gemini could not answer."];
  const detail = told === undefined ? (own === undefined ? "" : lastLineOf(stderr)) : readableError(told.message);
  if (own === undefined && told === undefined && status === null) return null;
  return { status: "error", errorCode, error: `${words} ${detail}`.trim() };
}

/** The message has the status as a number where the program repeats the vendor's answer; its words leave it out for some. */
function statusOf(exitCode: number | null, told: ToldError | undefined): number | null {
  const said = /"code":\s*(\d{3})\b/.exec(told?.message ?? "")?.[1];
  if (said !== undefined) return Number(said);
  return knownStatuses.find((status) => status % 256 === exitCode) ?? null;
}

const lastLineOf = (text: string): string => text.trim().split("\n").at(-1) ?? "";
