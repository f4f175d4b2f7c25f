import type { ExecutionResult } from "#contract";
import type { NewCallback } from "../store/store.ts";
import type { Task } from "../task.ts";

/** Builds the callback of a finished task. Every attempt sends the same bytes. Throws if the task has no `callbackUrl`. */
export function buildCallback(
  task: Pick<Task, "taskId" | "agentId" | "provider" | "request">,
  result: ExecutionResult,
  finishedAt: number,
): NewCallback {
  const url = task.request.callbackUrl;
  if (url === undefined) throw new Error(`Task ${task.taskId} has no callbackUrl.`);
  const body = {
    taskId: task.taskId,
    agentId: task.agentId,
    provider: task.provider,
    status: result.status,
    output: result.output,
    outputs: result.outputs,
    durationMs: result.durationMs,
    usage: result.usage,
    costUsd: result.costUsd,
    model: result.model,
    resumeToken: result.resumeToken,
    conversationMessages: task.request.callbackConversation === false ? undefined : result.conversationMessages,
    errorCode: result.errorCode,
    error: result.error,
    connection: result.connection,
    metadata: task.request.metadata ?? null,
    finishedAt: new Date(finishedAt).toISOString(),
  } satisfies { [K in keyof Required<ExecutionResult>]: unknown } & Record<string, unknown>;
  return { url, origin: callbackOrigin(url), body: JSON.stringify(body) };
}

/** Scheme, host and port of the receiver. Callbacks to one origin share its limit of concurrent posts. */
export const callbackOrigin = (url: string): string => new URL(url).origin;
