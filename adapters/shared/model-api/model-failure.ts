import { APICallError, InvalidResponseDataError, RetryError, TypeValidationError } from "ai";
import type { TaskErrorCode } from "#contract";
import type { Outcome } from "../agent-program/run-program.ts";
import { failure } from "../process/failure.ts";
import { isRateLimitMessage } from "../process/rate-limit-message.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";

/** A failure of a task that Bridge detected. The message is for the caller. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly errorCode: TaskErrorCode;

  constructor(errorCode: TaskErrorCode, message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

const MAX_MESSAGE_LENGTH = 2_000;

const STATUS_CODES: Readonly<Record<number, TaskErrorCode>> = {
  401: "authentication_required",
  402: "user_action_required",
  403: "authentication_required",
  429: "rate_limited",
};
/** Errors of an account without credit. */
const NO_CREDIT = /insufficient[ _](credit|balance|fund|quota)/i;
const ADVICE: Partial<Record<TaskErrorCode, string>> = {
  authentication_required: " Check the API key.",
  user_action_required: " Check the plan and the credit of the account.",
};

/** Converts the error of a model call into an outcome. */
export function explainError(error: unknown, endpoint: Pick<ModelEndpoint, "baseUrl" | "secrets" | "explainError">): Outcome {
  const cause = RetryError.isInstance(error) ? error.lastError : error;
  const own = endpoint.explainError?.(cause);
  if (own !== undefined) return own;
  const root = findRootCause(cause);
  if (root instanceof ModelFailure) return failure(root.errorCode, root.message);
  if (APICallError.isInstance(cause)) return explainCall(cause, endpoint);
  if (InvalidResponseDataError.isInstance(cause))
    return failure("model_error", `The model's answer is incomplete: ${redact(messageOf(cause), endpoint.secrets)}`);
  if (TypeValidationError.isInstance(cause))
    return failure(
      "model_error",
      `The model's endpoint sent data in an unknown format: ${redact(describeIssue(cause.cause), endpoint.secrets)}.`,
    );
  const { errorCode, message } = mapReportedError(cause, endpoint.secrets);
  return failure(errorCode, `The model's endpoint reports: ${message}`);
}

/** Maps an error that an endpoint reports with a successful status, as if it had the status that the error contains. */
export function mapReportedError(error: unknown, secrets: readonly string[]): { errorCode: TaskErrorCode; message: string } {
  const message = redact(messageOf(error), secrets);
  const byMessage = isRateLimitMessage(message) ? "rate_limited" : NO_CREDIT.test(message) ? "user_action_required" : "model_error";
  const errorCode = STATUS_CODES[statusOf(error)] ?? byMessage;
  return { errorCode, message: addAdvice(message, ADVICE[errorCode] ?? "") };
}

function explainCall(error: APICallError, { baseUrl, secrets }: Pick<ModelEndpoint, "baseUrl" | "secrets">): Outcome {
  const message = redact(messageOf(error), secrets);
  if (error.statusCode === undefined)
    return failure(
      "adapter_offline",
      `The model's endpoint ${originOf(baseUrl)} cannot be reached: ${networkErrorCode(error) ?? redact(messageOf(findRootCause(error)), secrets)}`,
    );
  if (error.statusCode < 300)
    return failure(
      "model_error",
      `The connection to the model's endpoint ended before the answer was complete: ${networkErrorCode(error) ?? redact(messageOf(findRootCause(error)), secrets)}`,
    );
  const errorCode = STATUS_CODES[error.statusCode] ?? "model_error";
  const advice =
    error.statusCode === 404
      ? " Check that the provider offers this model, and check the path of the base URL."
      : (ADVICE[errorCode] ?? "");
  return failure(errorCode, `The model's endpoint returned HTTP ${error.statusCode}: ${addAdvice(message, advice)}`);
}

const addAdvice = (message: string, advice: string): string => `${message}${/[.!?]$/.test(message) || advice === "" ? "" : "."}${advice}`;

/** Describes the first issue of a zod error, and the first alternative of each union. The whole error has dozens of lines. */
function describeIssue(error: unknown): string {
  let issue = (error as { issues?: Issue[] } | undefined)?.issues?.[0];
  const path = [];
  let message = messageOf(error);
  for (; issue !== undefined; issue = issue.errors?.[0]?.[0]) {
    path.push(...issue.path);
    message = `${path.join(".")}: ${issue.message}`;
  }
  return message;
}

interface Issue {
  path: PropertyKey[];
  message: string;
  /** The issues of each alternative. */
  errors?: Issue[][];
}

/** Returns the HTTP status that an error inside a stream reports; 0 if it reports none. */
function statusOf(error: unknown): number {
  const { statusCode, status, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return [statusCode, status, code].map(Number).find((number) => number >= 400 && number < 600) ?? 0;
}

/** Removes known secrets, and values that look like secrets, from a text. Truncates it. */
export function redact(text: string, secrets: readonly string[]): string {
  const start = text.slice(0, 10 * MAX_MESSAGE_LENGTH);
  const known = secrets.filter((secret) => secret !== "").reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), start);
  return known
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=*-]{8,}/gi, "$1 [redacted]")
    .replaceAll(/\b(sk|pk|rk|gsk|xai|AIza)[-_*\w]{12,}/g, "[redacted]")
    .replaceAll(/(https?:\/\/)[^\s/@"']*@/gi, "$1")
    .replaceAll(/([?&](?:key|api[-_]?key|token|access_token|sig|signature)=)[^&\s"']+/gi, "$1[redacted]")
    .slice(0, MAX_MESSAGE_LENGTH);
}

/**
 * Returns the error code of a failed connection; null for other errors. The error message is not used, because it can contain
 * internal addresses.
 */
export function networkErrorCode(error: unknown): string | null {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string") return code;
  }
  return null;
}

function findRootCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? findRootCause(error.cause) : error;
}

/** Returns the message of an error. In a stream, some vendors send errors that are not objects. */
function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof error === "string" ? error : typeof message === "string" ? message : (JSON.stringify(error) ?? "no message");
}

export const originOf = (url: string): string => URL.parse(url)?.origin ?? "(invalid URL)";
