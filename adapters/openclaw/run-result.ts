import { z } from "zod";
import { isManagementError, type TaskErrorCode } from "#contract";
import type { ConnectionResult } from "../shared/agent-program/agent-program.ts";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { redact } from "../shared/model-api/model-failure.ts";
import { failure } from "../shared/process/failure.ts";
import { isRateLimitMessage } from "../shared/process/rate-limit-message.ts";
import { GatewayError } from "./gateway-error.ts";
import { redactPaths } from "./manage/management-errors.ts";

const text = z.string();
const count = z.number().nonnegative();
const usageSchema = z.object({
  input: count,
  output: count,
  cacheRead: count.default(0),
  cacheWrite: count.default(0),
  reasoningTokens: count.optional(),
});
const finalSchema = z.object({
  status: text,
  summary: text.optional(),
  stopReason: text.optional(),
  timeoutPhase: text.optional(),
  error: text.optional(),
  result: z
    .object({
      payloads: z.array(z.object({ text: text.nullish(), isError: z.boolean().optional() })).catch([]),
      meta: z.object({
        error: z.object({ kind: text, message: text.optional() }).optional(),
        timeoutPhase: text.optional(),
        stopReason: text.optional().catch(undefined),
        agentMeta: z
          .object({ provider: text, model: text, usage: usageSchema.optional().catch(undefined), costUsd: count.optional() })
          .optional()
          .catch(undefined),
      }),
    })
    .optional()
    .catch(undefined),
});
const waitSchema = z.object({
  status: text,
  endedAt: z.number().optional(),
  stopReason: text.optional(),
  error: z.unknown().optional(),
  terminalReply: z.object({ text }).optional().catch(undefined),
});

/** A row of `tasks.list`, the gateway's list of runs. */
export const taskRowSchema = z.object({
  runId: text.optional(),
  status: text,
  sessionKey: text.optional(),
  childSessionKey: text.optional(),
  error: text.optional(),
});
export type TaskRow = z.infer<typeof taskRowSchema>;

/** Converts the final response to `agent`. Its status is ambiguous: `timeout` can also mean that the run was aborted. */
export function parseFinalResponse(payload: unknown): ConnectionResult {
  const final = finalSchema.safeParse(payload).data;
  if (final === undefined) return failure("adapter_error", "The gateway reported the end of the run in an unknown format.");
  const outcome = outcomeOf(final);
  const { output, ...facts } = readFacts(final);
  return { ...facts, ...(outcome.status === "ok" && output !== "" && { output }), ...outcome };
}

/** Converts a response to `agent.wait`; null while the run is active, and for a run that the gateway does not know. */
export function parseWaitResponse(payload: unknown): ConnectionResult | null {
  const wait = waitSchema.safeParse(payload).data;
  if (wait === undefined || wait.status === "pending" || (wait.status === "timeout" && wait.endedAt === undefined)) return null;
  if (wait.status === "ok" && wait.stopReason === "length") return TRUNCATED;
  if (wait.status === "ok") return { status: "ok", ...(wait.terminalReply === undefined ? {} : { output: wait.terminalReply.text }) };
  if (wait.status === "timeout") return TIMED_OUT;
  return isStopped(wait.stopReason) ? STOPPED_ELSEWHERE : explainFailure(shortenText(wait.error), null);
}

/** Converts a row of `tasks.list`; null while the run is active. */
export function parseTaskRow({ status, error }: TaskRow): ConnectionResult | null {
  if (status === "queued" || status === "running") return null;
  if (status === "completed") return { status: "ok" };
  if (status === "cancelled") return STOPPED_ELSEWHERE;
  return status === "timed_out" ? TIMED_OUT : explainFailure(error ?? "", null);
}

/** Converts an error to the result of the task. `failoverReason` is the reason code that the events reported for a failed model call. */
export function explainError(error: unknown, failoverReason: string | null): ConnectionResult {
  if (error instanceof z.ZodError) return failure("adapter_error", "The gateway sent a response in an unknown format.");
  if (isManagementError(error))
    return failure("adapter_error", `The MCP servers of the task could not be added to OpenClaw: ${error.message}`);
  if (!(error instanceof GatewayError)) throw error;
  const { code, message } = error;
  const detail = shortenText(message);
  const agentId = /unknown agent id "([^"]*)"/i.exec(message)?.[1];
  if (agentId !== undefined) {
    const advice = `Create it with POST /api/v2/gateway/openclaw/agents or \`openclaw agents add\`, or dispatch to an existing agent, such as main.`;
    return failure("adapter_error", `OpenClaw has no agent "${agentId}". ${advice}`);
  }
  if (/\bcwd is unavailable\b/.test(message)) {
    const advice = "Give the gateway access to Bridge's workspaces, or set BRIDGE_OPENCLAW_WORKSPACE=agent.";
    return failure("adapter_error", `The gateway cannot access the task's directory. ${advice}`);
  }
  // The gateway returns this message for a run that was stopped before it started.
  if (/run authority is no longer active/.test(message)) return STOPPED_ELSEWHERE;
  if (code === "DISCONNECTED") return failure("runtime_crashed", "The connection to the gateway was lost and not restored in time.");
  if (error.isBusy) return failure("adapter_offline", `The gateway is too busy to run the task: ${detail}`);
  if (/^config\.patch\b/.test(message))
    return failure("adapter_error", `The MCP servers of the task could not be added to OpenClaw: ${detail}`);
  if (code === "UNAVAILABLE") return explainFailure(detail, failoverReason);
  if (code === "FORBIDDEN") return failure("adapter_error", `Bridge's token lacks a scope that the gateway requires: ${detail}`);
  return failure("adapter_error", `The gateway rejected the task: ${detail}`);
}

const TRUNCATED = failure("model_error", "The model reached its token limit, so its answer is incomplete.");
const TIMED_OUT = failure("timeout", "The run reached the time limit of the gateway.");
const STOPPED_ELSEWHERE = failure("cancelled", "The run was stopped in OpenClaw.");
const isStopped = (stopReason: string | undefined): boolean => stopReason === "rpc" || stopReason === "aborted";

/** Error codes by the gateway's `failoverReason`. */
const ERROR_CODES_BY_REASON: ReadonlyMap<string, TaskErrorCode> = new Map([
  ["auth", "authentication_required"],
  ["auth_permanent", "authentication_required"],
  ["billing", "user_action_required"],
  ["rate_limit", "rate_limited"],
  ["overloaded", "rate_limited"],
]);

/** Returns the outcome of a run whose gateway waits too long. `next`: time of its next model call, in ms since the epoch. */
export function explainWait(next: number, failoverReason: string): Outcome {
  const errorCode = ERROR_CODES_BY_REASON.get(failoverReason) ?? "model_error";
  return failure(errorCode, `The vendor of the model rejects calls until ${new Date(next).toISOString()} (${failoverReason}).`);
}

function explainFailure(detail: string, failoverReason: string | null): Outcome {
  const known = failoverReason === null ? undefined : ERROR_CODES_BY_REASON.get(failoverReason);
  // After a provider rejects its key, the gateway skips it for a minute and reports only this message.
  if (known === "authentication_required" || /temporarily disabled after a provider auth|authentication failed/.test(detail))
    return failure("authentication_required", `The model's provider rejected OpenClaw's credentials: ${detail} Set them in OpenClaw.`);
  if (known !== undefined) return failure(known, `The model's provider rejected the call: ${detail}`);
  if (isRateLimitMessage(detail)) return failure("rate_limited", `The model's provider rejected the call: ${detail}`);
  if (/\bsandbox\b/i.test(detail)) return failure("adapter_error", `OpenClaw could not start the agent's sandbox: ${detail}`);
  return failure("model_error", `The run failed in OpenClaw: ${detail || "no reason was reported."}`);
}

function outcomeOf({ status, summary, stopReason, timeoutPhase, error, result }: z.infer<typeof finalSchema>): Outcome {
  const metaError = result?.meta.error;
  if (status === "ok") {
    const hasFailed = metaError !== undefined || result?.payloads.some(({ isError }) => isError === true);
    if (hasFailed) return explainFailure(shortenText(metaError?.message ?? textOf(result)), null);
    return result?.meta.stopReason === "length" ? TRUNCATED : { status: "ok" };
  }
  if (status === "timeout") {
    const phase = timeoutPhase ?? result?.meta.timeoutPhase;
    return isStopped(stopReason) || (phase === undefined && metaError === undefined && summary === "aborted")
      ? STOPPED_ELSEWHERE
      : TIMED_OUT;
  }
  return explainFailure(shortenText(error ?? metaError?.message ?? summary), null);
}

function readFacts({ result }: z.infer<typeof finalSchema>): Omit<Partial<ConnectionResult>, "status"> {
  const { provider, model, usage, costUsd = 0 } = result?.meta.agentMeta ?? {};
  return {
    output: textOf(result),
    ...(provider === undefined || model === undefined ? {} : { model: `${provider}/${model}` }),
    ...(usage === undefined
      ? {}
      : {
          usage: {
            // The gateway counts cached tokens separately from input tokens.
            inputTokens: usage.input + usage.cacheRead + usage.cacheWrite,
            outputTokens: usage.output,
            ...(usage.reasoningTokens === undefined ? {} : { thinkingTokens: usage.reasoningTokens }),
            cacheReadTokens: usage.cacheRead,
            cacheWriteTokens: usage.cacheWrite,
          },
        }),
    // The gateway reports 0 for a model without configured prices.
    ...(costUsd > 0 ? { costUsd } : {}),
  };
}

const textOf = (result: z.infer<typeof finalSchema>["result"]): string =>
  (result?.payloads ?? []).flatMap((payload) => payload.text ?? []).join("\n\n");

/** Returns the first lines of an upstream error, with secrets and file paths redacted. */
function shortenText(error: unknown): string {
  if (error === undefined || error === null) return "";
  const message = typeof error === "string" ? error : JSON.stringify(error);
  return redactPaths(redact(message, [])).split("\n").slice(0, 3).join(" ").slice(0, 500);
}
