import { randomUUID } from "node:crypto";
import path from "node:path";
import type { AdapterEvent, ExecutionAdapter, ExecutionRequest, ExecutionResult } from "#contract";
import { createExecutionRequest } from "../conformance/execution-request.ts";

/** The completion events of a task's tool calls. */
export const toolsOf = (events: readonly AdapterEvent[]) =>
  events.flatMap((event) => (event.type === "tool.completed" ? [event.data] : []));

/** Starts a task with all permissions and a separate TMPDIR; `changes` override the request. */
export function startTask(
  adapter: Required<ExecutionAdapter>,
  directories: ExecutionRequest["directories"],
  given: Partial<ExecutionRequest>,
) {
  const taskId = randomUUID();
  const own = given.directories ?? directories;
  const request = createExecutionRequest(own.workspace, {
    taskId,
    message: "",
    ...given,
    directories: { ...own, tmp: path.join(own.tmp, taskId) },
  });
  const events: AdapterEvent[] = [];
  adapter.onEvent((event) => event.taskId === taskId && events.push(event));
  const done = adapter.execute(request).then((result: ExecutionResult) => ({ result, events, tools: toolsOf(events) }));
  return { request, events, done };
}
