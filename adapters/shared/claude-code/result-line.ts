import { z } from "zod";
import { jsonObjectSchema } from "#contract";
import type { Outcome } from "../agent-program/run-program.ts";
import { failure } from "../process/failure.ts";
import { isRateLimitMessage } from "../process/rate-limit-message.ts";

const count = z.number().nonnegative();
const modelUsageSchema = z.object({
  inputTokens: count,
  outputTokens: count,
  thinkingTokens: count.default(0),
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
  costUSD: count,
});
/** The usage of one model in a task. The input counts do not overlap. Thinking is part of the output. */
export type ModelUsage = z.infer<typeof modelUsageSchema>;

/** Creates the schema of a field that is undefined if its value is invalid, so that a changed format does not fail the task. */
const ignoreInvalid = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

/** The last line of a task. It is more precise than the exit code. */
export const resultSchema = z.object({
  type: z.literal("result"),
  subtype: z.string(),
  is_error: z.boolean(),
  result: ignoreInvalid(z.string()),
  structured_output: ignoreInvalid(jsonObjectSchema),
  errors: ignoreInvalid(z.array(z.string())),
  api_error_status: ignoreInvalid(z.number()),
  terminal_reason: ignoreInvalid(z.string()),
  stop_reason: ignoreInvalid(z.string()),
  total_cost_usd: ignoreInvalid(count),
  model_usage_since_last_result: ignoreInvalid(z.record(z.string(), modelUsageSchema)),
});
export type ResultLine = z.infer<typeof resultSchema>;

/** Returns advice for missing or rejected credentials. */
export const loginAdvice = (homeSetting: string): string => `set ANTHROPIC_API_KEY, or ${homeSetting}=user to use your own login`;

/** Reads the outcome of a task. `is_error` decides, because the `subtype` of a rejected API call is "success", too. */
export function readOutcome(line: ResultLine, homeSetting: string): Outcome {
  const { is_error: isError, stop_reason: stopReason } = line;
  if (!isError && stopReason === "refusal") return failure("model_error", "The model refused the task.");
  if (!isError && stopReason === "max_tokens")
    return failure("model_error", "The model reached its token limit, so its answer is incomplete.");
  if (!isError) return { status: "ok" };
  const message = line.errors?.join(" ") || line.result || "no reason.";
  if (line.subtype === "error_max_turns") return failure("max_turns", "Claude Code reached its maximum number of turns.");
  if (line.subtype === "error_max_structured_output_retries") return failure("output_invalid", `Claude Code reports: ${message}`);
  if (line.subtype === "error_max_budget_usd") return failure("budget_exceeded", "Claude Code reached its cost limit.");
  if (isUnauthorized(line.api_error_status, message)) return createUnauthorizedOutcome(message, homeSetting);
  if (line.api_error_status === 429 || isRateLimitMessage(message)) return failure("rate_limited", `Claude Code reports: ${message}`);
  const isModelError = line.terminal_reason === "api_error" || line.api_error_status !== undefined;
  return failure(isModelError ? "model_error" : "adapter_error", `Claude Code reports: ${message}`);
}

/** Creates the outcome for missing or rejected credentials. */
export const createUnauthorizedOutcome = (message: string, homeSetting: string): Outcome =>
  failure("authentication_required", `Claude Code reports: ${message}. To log in, ${loginAdvice(homeSetting)}.`);

/** Returns whether credentials are missing or rejected. Without credentials, Claude Code makes no API call, so there is no status. */
function isUnauthorized(httpStatus: number | undefined, message: string): boolean {
  return httpStatus === 401 || httpStatus === 403 || /^not logged in/i.test(message);
}
