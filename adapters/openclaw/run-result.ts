import { z } from "zod";
import { isManagementError, type TaskErrorCode } from "#contract";
import type { ConnectionResult } from "../shared/agent-program/agent-program.ts";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { redact } from "../shared/model-api/model-failure.ts";
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

/** A row of the gateway's own list of what it works on. */
export const taskRowSchema = z.object({
  runId: text.optional(),
  status: text,
  sessionKey: text.optional(),
  childSessionKey: text.optional(),
  error: text.optional(),
});
export type TaskRow = z.infer<typeof taskRowSchema>;

/** What the last answer to `agent` says of the task. Its words are ambiguous: a run that was aborted has the status `timeout`, too. */
export function parseFinalResponse(payload: unknown): ConnectionResult {
  const final = finalSchema.safeParse(payload).data;
  if (final === undefined) return failure("adapter_error", "The gateway ended the run in words that Bridge does not know.");
  const verdict = outcomeOf(final);
  const { output, ...facts } = factsOf(final);
  return { ...facts, ...(verdict.status === "ok" && output !== "" && { output }), ...verdict };
}

/** What `agent.wait` says of the task; null while the run goes on, and for a run that the gateway does not know. */
export function parseWaitResponse(payload: unknown): ConnectionResult | null {
  const wait = waitSchema.safeParse(payload).data;
  if (wait === undefined || wait.status === "pending" || (wait.status === "timeout" && wait.endedAt === undefined)) return null;
  if (wait.status === "ok" && wait.stopReason === "length") return cutShort;
  if (wait.status === "ok") return { status: "ok", ...(wait.terminalReply === undefined ? {} : { output: wait.terminalReply.text }) };
  if (wait.status === "timeout") return timedOut;
  return isStopped(wait.stopReason) ? stoppedElsewhere : explainFailure(shortenText(wait.error), null);
}

/** What a row says of the task; null while the run goes on. */
export function parseTaskRow({ status, error }: TaskRow): ConnectionResult | null {
  if (status === "queued" || status === "running") return null;
  if (status === "completed") return { status: "ok" };
  if (status === "cancelled") return stoppedElsewhere;
  return status === "timed_out" ? timedOut : explainFailure(error ?? "", null);
}

/** What a refusal means for the task. `failoverReason` is what the events have told of the model's provider. */
export function explainError(error: unknown, failoverReason: string | null): ConnectionResult {
  if (error instanceof z.ZodError) return failure("adapter_error", "The gateway answers in a way that Bridge does not know.");
  if (isManagementError(error)) return failure("adapter_error", `OpenClaw cannot be given the MCP servers of the task: ${error.message}`);
  if (!(error instanceof GatewayError)) throw error;
  const { code, message } = error;
  const said = shortenText(message);
  const agentId = /unknown agent id "([^"]*)"/i.exec(message)?.[1];
  if (agentId !== undefined) {
    const how = `Create it, by POST /api/v2/gateway/openclaw/agents or \`openclaw agents add\`, or dispatch to an agent that is there, such as main.`;
    return failure("adapter_error", `OpenClaw has no agent "${agentId}". ${how}`);
  }
  if (/\bcwd is unavailable\b/.test(message)) {
    const how = "Run the gateway where it sees Bridge's workspaces, or set BRIDGE_OPENCLAW_WORKSPACE=agent.";
    return failure("adapter_error", `The gateway cannot work in the task's directory. ${how}`);
  }
  // How it ends what was stopped before it had begun.
  if (/run authority is no longer active/.test(message)) return stoppedElsewhere;
  if (code === "DISCONNECTED") return failure("runtime_crashed", "The gateway went away and did not come back in time.");
  if (error.isBusy) return failure("adapter_offline", `The gateway has no time for the task: ${said}`);
  if (/^config\.patch\b/.test(message)) return failure("adapter_error", `OpenClaw cannot be given the MCP servers of the task: ${said}`);
  if (code === "UNAVAILABLE") return explainFailure(said, failoverReason);
  if (code === "FORBIDDEN") return failure("adapter_error", `Bridge's token has not the right that the gateway asks for: ${said}`);
  return failure("adapter_error", `The gateway refuses the task: ${said}`);
}

export const failure = (errorCode: TaskErrorCode, error: string): Outcome => ({ status: "error", errorCode, error });

const cutShort = failure("model_error", "The model reached its token limit: its answer is cut short.");
const timedOut = failure("timeout", "The run reached the gateway's own time limit.");
const stoppedElsewhere = failure("cancelled", "The run was stopped in OpenClaw.");
const isStopped = (stopReason: string | undefined): boolean => stopReason === "rpc" || stopReason === "aborted";

/** By the provider's own reason, as the gateway names it. */
const ERROR_CODES_BY_REASON: Readonly<Record<string, TaskErrorCode>> = {
  auth: "authentication_required",
  auth_permanent: "authentication_required",
  billing: "user_action_required",
  rate_limit: "rate_limited",
  overloaded: "rate_limited",
};

function explainFailure(said: string, failoverReason: string | null): Outcome {
  const known = failoverReason === null ? undefined : ERROR_CODES_BY_REASON[failoverReason];
  // A provider that has refused its key is not asked again for a minute; then this is all there is.
  if (known === "authentication_required" || /temporarily disabled after a provider auth|authentication failed/.test(said))
    return failure("authentication_required", `The model's provider refuses OpenClaw's credentials: ${said} Set them in OpenClaw.`);
  if (known !== undefined) return failure(known, `The model's provider refuses the call: ${said}`);
  if (/\bsandbox\b/i.test(said)) return failure("adapter_error", `OpenClaw could not start the agent's sandbox: ${said}`);
  return failure("model_error", `The run failed in OpenClaw: ${said || "it does not say why."}`);
}

function outcomeOf({ status, summary, stopReason, timeoutPhase, error, result }: z.infer<typeof finalSchema>): Outcome {
  const told = result?.meta.error;
  if (status === "ok") {
    const isBroken = told !== undefined || result?.payloads.some(({ isError }) => isError === true);
    if (isBroken) return explainFailure(shortenText(told?.message ?? textOf(result)), null);
    return result?.meta.stopReason === "length" ? cutShort : { status: "ok" };
  }
  if (status === "timeout") {
    const phase = timeoutPhase ?? result?.meta.timeoutPhase;
    return isStopped(stopReason) || (phase === undefined && told === undefined && summary === "aborted") ? stoppedElsewhere : timedOut;
  }
  return explainFailure(shortenText(error ?? told?.message ?? summary), null);
}

function factsOf({ result }: z.infer<typeof finalSchema>): Omit<Partial<ConnectionResult>, "status"> {
  const { provider, model, usage, costUsd = 0 } = result?.meta.agentMeta ?? {};
  return {
    output: textOf(result),
    ...(provider === undefined || model === undefined ? {} : { model: `${provider}/${model}` }),
    ...(usage === undefined
      ? {}
      : {
          usage: {
            // The gateway counts what came from the cache beside.
            inputTokens: usage.input + usage.cacheRead + usage.cacheWrite,
            outputTokens: usage.output,
            ...(usage.reasoningTokens === undefined ? {} : { thinkingTokens: usage.reasoningTokens }),
            cacheReadTokens: usage.cacheRead,
            cacheWriteTokens: usage.cacheWrite,
          },
        }),
    // Of a model without prices it says 0.
    ...(costUsd > 0 ? { costUsd } : {}),
  };
}

const textOf = (result: z.infer<typeof finalSchema>["result"]): string =>
  (result?.payloads ?? []).flatMap((payload) => payload.text ?? []).join("\n\n");

/** The first lines of what somebody upstream has said, without what looks like a secret, and without the files of its machine. */
function shortenText(said: unknown): string {
  if (said === undefined || said === null) return "";
  const words = typeof said === "string" ? said : JSON.stringify(said);
  return redactPaths(redact(words, [])).split("\n").slice(0, 3).join(" ").slice(0, 500);
}
