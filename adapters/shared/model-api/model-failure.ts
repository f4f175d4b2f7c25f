import { APICallError, InvalidResponseDataError, RetryError } from "ai";
import type { TaskErrorCode } from "#contract";
import type { Outcome } from "../agent-program/run-program.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";

/** What stands in the way of a task, found by Bridge itself; the message is for humans. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly errorCode: TaskErrorCode;

  constructor(errorCode: TaskErrorCode, message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

const MAX_WORDS_LENGTH = 2_000;

const codes: Readonly<Record<number, TaskErrorCode>> = {
  401: "authentication_required",
  402: "user_action_required",
  403: "authentication_required",
  429: "rate_limited",
};
const advice: Partial<Record<TaskErrorCode, string>> = {
  authentication_required: " Check the API key.",
  user_action_required: " Check the plan and the credit of the account.",
};

/** What an error means that a model call has ended with. */
export function explainError(error: unknown, endpoint: Pick<ModelEndpoint, "baseUrl" | "secrets" | "explainError">): Outcome {
  const cause = RetryError.isInstance(error) ? error.lastError : error;
  const own = endpoint.explainError?.(cause);
  if (own !== undefined) return own;
  const root = innermost(cause);
  if (root instanceof ModelFailure) return failed(root.errorCode, root.message);
  if (APICallError.isInstance(cause)) return explainCall(cause, endpoint);
  const words = redact(wordsOf(cause), endpoint.secrets);
  if (InvalidResponseDataError.isInstance(cause)) return failed("model_error", `The model's answer is not complete: ${words}`);
  return failed(codes[statusOf(cause)] ?? "model_error", `The model's endpoint reports: ${words}`);
}

function explainCall(error: APICallError, { baseUrl, secrets }: Pick<ModelEndpoint, "baseUrl" | "secrets">): Outcome {
  const words = redact(wordsOf(error), secrets);
  if (error.statusCode === undefined)
    return failed(
      "adapter_offline",
      `The model's endpoint ${originOf(baseUrl)} cannot be reached: ${networkWords(error) ?? redact(wordsOf(innermost(error)), secrets)}`,
    );
  const errorCode = codes[error.statusCode] ?? "model_error";
  const advised = error.statusCode === 404 ? " Check the name of the model and the path of the base URL." : (advice[errorCode] ?? "");
  return failed(
    errorCode,
    `The model's endpoint answered ${error.statusCode}: ${words}${/[.!?]$/.test(words) || advised === "" ? "" : "."}${advised}`,
  );
}

/** An error inside of a stream may say which status it would have had. */
function statusOf(error: unknown): number {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  return typeof statusCode === "number" ? statusCode : 0;
}

/** Takes out of a text what no text may show: the secrets that are known, and what looks like one. */
export function redact(text: string, secrets: readonly string[]): string {
  const shown = text.slice(0, 10 * MAX_WORDS_LENGTH);
  const known = secrets.filter((secret) => secret !== "").reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), shown);
  return known
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=*-]{8,}/gi, "$1 [redacted]")
    .replaceAll(/\b(sk|pk|rk|gsk|xai|AIza)[-_*\w]{12,}/g, "[redacted]")
    .replaceAll(/(https?:\/\/)[^\s/@"']*@/gi, "$1")
    .replaceAll(/([?&](?:key|api[-_]?key|token|access_token|sig|signature)=)[^&\s"']+/gi, "$1[redacted]")
    .slice(0, MAX_WORDS_LENGTH);
}

/** The code with which a connection failed; null when that was not it. Its text may name addresses that are not for everybody. */
export function networkWords(error: unknown): string | null {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string") return code;
  }
  return null;
}

function innermost(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? innermost(error.cause) : error;
}

/** Some vendors say something in a stream that is not even an error object. */
function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof error === "string" ? error : typeof message === "string" ? message : (JSON.stringify(error) ?? "no words");
}

export const originOf = (url: string): string => URL.parse(url)?.origin ?? "(no valid URL)";

const failed = (errorCode: TaskErrorCode, error: string): Outcome => ({ status: "error", errorCode, error });
