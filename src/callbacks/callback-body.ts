import { type ExecutionResult, stringifyWellFormed } from "#contract";
import type { NewCallback } from "../store/posts/interface.ts";
import type { Task } from "../task.ts";

/**
 * Encodes a result as JSON with its fields in a fixed order. The callback contains the same text, so that the store needs
 * only one copy of it.
 */
export function encodeResult(result: ExecutionResult): string {
  const ordered: { [K in keyof Required<ExecutionResult>]: unknown } = {
    status: result.status,
    output: result.output,
    outputs: result.outputs,
    durationMs: result.durationMs,
    usage: result.usage,
    costUsd: result.costUsd,
    costSource: result.costSource,
    model: result.model,
    resumeToken: result.resumeToken,
    conversationMessages: result.conversationMessages,
    errorCode: result.errorCode,
    error: result.error,
    connection: result.connection,
    attempts: result.attempts,
    repository: result.repository,
  };
  return stringifyWellFormed(ordered);
}

/**
 * Builds the callback of a finished task. Every attempt sends the same bytes. `resultJson` is the result as `encodeResult`
 * encodes it. Throws if the task has no `callbackUrl`.
 */
export function buildCallback(
  { taskId, agentId, provider, request }: Pick<Task, "taskId" | "agentId" | "provider" | "request">,
  result: ExecutionResult,
  finishedAt: number,
  resultJson: string = encodeResult(result),
): NewCallback {
  const url = request.callbackUrl;
  if (url === undefined) throw new Error(`Task ${taskId} has no callbackUrl.`);
  const isShortened = request.callbackConversation === false && result.conversationMessages !== undefined;
  const shownJson = isShortened ? encodeResult({ ...result, conversationMessages: undefined }) : resultJson;
  const head = `${stringifyWellFormed({ taskId, agentId, provider }).slice(0, -1)},`;
  const tail = `,${stringifyWellFormed({ metadata: request.metadata ?? null, finishedAt: new Date(finishedAt).toISOString() }).slice(1)}`;
  const body = `${head}${shownJson.slice(1, -1)}${tail}`;
  const shared = { resultJson, body: `${head}${tail}`, at: head.length };
  return { url, origin: callbackOrigin(url), body, ...(!isShortened && { shared }) };
}

/** Scheme, host and port of the receiver. Callbacks to one origin share its limit of concurrent posts. */
export const callbackOrigin = (url: string): string => new URL(url).origin;

/** Normalizes an origin as `callbackOrigin` returns it. Null if the text is none, or has more than scheme, host and port. */
export function parseOrigin(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { href, protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) && href === `${origin}/` ? origin : null;
}
