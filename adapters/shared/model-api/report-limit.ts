import { APICallError, RetryError } from "ai";
import type { ProgramTask } from "../agent-program/agent-program.ts";
import { parseJsonLine } from "../process/parse-json-line.ts";
import { readBodyReset, readLimit } from "./call-limit.ts";

/** Reports the limit at which the vendor has rejected a call of a task, with its end. Does nothing for any other error. */
export function reportLimit(error: unknown, { request, context }: Pick<ProgramTask, "request" | "context">): void {
  const call = RetryError.isInstance(error) ? error.lastError : error;
  if (!APICallError.isInstance(call)) return;
  const { statusCode = 0, responseHeaders = {}, responseBody = "" } = call;
  const now = Date.now();
  const limit = readLimit(statusCode, responseHeaders, now);
  if (limit === null) return;
  const resetsAt = limit.resetsAt ?? readBodyReset(parseJsonLine(responseBody), now);
  context.onModelLimited({ taskId: request.taskId, reason: limit.reason, resetsAt });
}
