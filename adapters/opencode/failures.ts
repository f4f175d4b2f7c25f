import { z } from "zod";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import { isRateLimitMessage } from "../shared/process/rate-limit-message.ts";
import { CREDENTIALS_ADVICE } from "./providers.ts";

/** An error as OpenCode reports it. */
export const errorSchema = z.object({
  name: z.string(),
  data: z.looseObject({ message: z.string().optional(), statusCode: z.number().optional() }).default({}),
});
export type ReportedError = z.infer<typeof errorSchema>;

/** Maps an error that OpenCode reports to an outcome. */
export function explainError({ name, data }: ReportedError): Outcome {
  const message = firstLine(data.message) ?? name;
  if (name === "ProviderAuthError" || data.statusCode === 401 || data.statusCode === 403)
    return failure(
      "authentication_required",
      `The model's provider rejected the credentials: ${message}. To fix this, ${CREDENTIALS_ADVICE}.`,
    );
  if (data.statusCode === 429 || isRateLimitMessage(message))
    return failure("rate_limited", `The model's provider reports a rate limit: ${message}`);
  if (name === "APIError") return failure("model_error", `The model call failed: ${message}`);
  if (name === "MessageOutputLengthError") return explainFinish("length");
  if (name === "ContextOverflowError") return failure("model_error", `The task exceeds the model's context window: ${message}`);
  if (name === "ContentFilterError") return explainFinish("content-filter");
  // Over the cli connection OpenCode reports an unknown model as an unexpected server error.
  if (/^(Model not found|Unexpected server error)/.test(message))
    return failure("model_error", `OpenCode reports: ${message} Check that the provider offers this model.`);
  return failure("adapter_error", `OpenCode reports: ${message}`);
}

/** Maps the finish reason of the last model call to an outcome; null means that no call finished. */
export function explainFinish(reason: string | null): Outcome {
  if (reason === "length") return failure("model_error", "The model reached its output limit, so its answer is truncated.");
  if (reason === "content-filter") return failure("model_error", "The model's provider withheld the answer.");
  if (reason === null || reason === "tool-calls" || reason === "error")
    return failure("model_error", "OpenCode stopped before the model finished its answer.");
  return { status: "ok" };
}

/** Returns the outcome after too many failed calls; OpenCode itself would retry for over a minute. */
export function explainRetries(attempts: number, message: string): Outcome {
  return failure(
    isRateLimitMessage(message) ? "rate_limited" : "model_error",
    `The model's provider failed ${attempts} times in a row. Last error: ${message}`,
  );
}

/** Returns the outcome of a call that OpenCode would repeat only at a time that is far away, in ms since the epoch. */
export function explainWait(next: number, message: string): Outcome {
  const errorCode = isRateLimitMessage(message) ? "rate_limited" : "model_error";
  return failure(errorCode, `The vendor of the model rejects calls until ${new Date(next).toISOString()}: ${message}`);
}

/** Removes the stack trace that some messages contain. */
const firstLine = (message = ""): string | undefined => message.split("\n")[0] || undefined;
