import { z } from "zod";
import type { TaskErrorCode } from "#contract";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { credentialsAdvice } from "./providers.ts";

/** An error as OpenCode reports it. */
export const errorSchema = z.object({
  name: z.string(),
  data: z.looseObject({ message: z.string().optional(), statusCode: z.number().optional() }).default({}),
});
export type ReportedError = z.infer<typeof errorSchema>;

/** What an error means for the task. */
export function explainError({ name, data }: ReportedError): Outcome {
  const said = firstLine(data.message) ?? name;
  if (name === "ProviderAuthError" || data.statusCode === 401 || data.statusCode === 403)
    return failure(
      "authentication_required",
      `The model's provider refuses the credentials: ${said}. To change that, ${credentialsAdvice}.`,
    );
  if (data.statusCode === 429) return failure("rate_limited", `The model's provider refuses further calls for now: ${said}`);
  if (name === "APIError") return failure("model_error", `The call of the model failed: ${said}`);
  if (name === "MessageOutputLengthError") return explainFinish("length");
  if (name === "ContextOverflowError") return failure("model_error", `The task has grown over what the model can take: ${said}`);
  if (name === "ContentFilterError") return explainFinish("content-filter");
  // The one error of the cli connection that does not say what it is.
  if (/^(Model not found|Unexpected server error)/.test(said))
    return failure("model_error", `OpenCode reports: ${said} Has the provider the model that was asked for?`);
  return failure("adapter_error", `OpenCode reports: ${said}`);
}

/** What the last call of the model came to; null when nothing did come to an end. */
export function explainFinish(reason: string | null): Outcome {
  if (reason === "length") return failure("model_error", "The model reached its limit of output: its answer is cut short.");
  if (reason === "content-filter") return failure("model_error", "The model's provider withheld the answer.");
  if (reason === null || reason === "tool-calls" || reason === "error")
    return failure("model_error", "OpenCode stopped before the model had given its answer.");
  return { status: "ok" };
}

/** The program itself would go on trying for over a minute. */
export function explainRetries(attempts: number, said: string): Outcome {
  const isLimited = /429|rate.?limit|too many requests/i.test(said);
  return failure(
    isLimited ? "rate_limited" : "model_error",
    `The model's provider failed ${attempts} times in a row, in the end with: ${said}`,
  );
}

export const failure = (errorCode: TaskErrorCode, error: string): Outcome => ({ status: "error", errorCode, error });

/** Some messages come with a stack. */
const firstLine = (message = ""): string | undefined => message.split("\n")[0] || undefined;
