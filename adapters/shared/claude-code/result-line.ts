import { z } from "zod";
import type { TaskErrorCode } from "#contract";
import type { Outcome } from "../agent-program/run-program.ts";

const count = z.number().nonnegative();
const modelUsageSchema = z.object({
  inputTokens: count,
  outputTokens: count,
  thinkingTokens: count.default(0),
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
  costUSD: count,
});
/** What a task has used of one model: the counts of the prompt do not overlap, thinking is part of the output. */
export type ModelUsage = z.infer<typeof modelUsageSchema>;

/** A field in another form than the known one is unknown, and costs no result. */
const known = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

/** The last line of a task: its fields say more than its exit code, and than its `subtype`. */
export const resultSchema = z.object({
  type: z.literal("result"),
  subtype: z.string(),
  is_error: z.boolean(),
  result: known(z.string()),
  structured_output: known(z.record(z.string(), z.unknown())),
  errors: known(z.array(z.string())),
  api_error_status: known(z.number()),
  terminal_reason: known(z.string()),
  stop_reason: known(z.string()),
  total_cost_usd: known(count),
  model_usage_since_last_result: known(z.record(z.string(), modelUsageSchema)),
});
export type ResultLine = z.infer<typeof resultSchema>;

/** What to do about missing or rejected credentials. */
export const loginAdvice = (homeSetting: string): string => `set ANTHROPIC_API_KEY, or ${homeSetting}=user to use your own login`;

/** How a task went. A refused call of the API has `subtype` "success", too: `is_error` decides. */
export function readVerdict(line: ResultLine, homeSetting: string): Outcome {
  const { is_error: isError, stop_reason: stopReason } = line;
  if (!isError && stopReason === "refusal") return failure("model_error", "The model refused the task.");
  if (!isError && stopReason === "max_tokens") return failure("model_error", "The model reached its token limit: its answer is cut short.");
  if (!isError) return { status: "ok" };
  const said = line.errors?.join(" ") || line.result || "It does not say why.";
  if (line.subtype === "error_max_turns") return failure("max_turns", "Claude Code reached its limit of turns.");
  if (line.subtype === "error_max_structured_output_retries") return failure("output_invalid", `Claude Code reports: ${said}`);
  if (line.subtype === "error_max_budget_usd") return failure("budget_exceeded", "Claude Code reached its limit of cost.");
  if (isUnauthorised(line.api_error_status, said)) return unauthorised(said, homeSetting);
  if (line.api_error_status === 429) return failure("rate_limited", `Claude Code reports: ${said}`);
  const isModels = line.terminal_reason === "api_error" || line.api_error_status !== undefined;
  return failure(isModels ? "model_error" : "adapter_error", `Claude Code reports: ${said}`);
}

/** The vendor rejects the credentials, or there are none. */
export const unauthorised = (said: string, homeSetting: string): Outcome =>
  failure("authentication_required", `Claude Code reports: ${said}. To log in, ${loginAdvice(homeSetting)}.`);

/** Without any key no call is made, so there is no status. */
function isUnauthorised(httpStatus: number | undefined, said: string): boolean {
  return httpStatus === 401 || httpStatus === 403 || /^not logged in/i.test(said);
}

const failure = (errorCode: TaskErrorCode, error: string): Outcome => ({ status: "error", errorCode, error });
