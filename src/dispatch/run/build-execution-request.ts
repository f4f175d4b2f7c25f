import { type ExecutionRequest, inputFieldsOf } from "#contract";
import { outputInstructions } from "../../results/output-strategy.ts";
import { type Task, taskHandle } from "../../task.ts";
import type { AgentFile } from "../../workspaces/prompt-files.ts";
import { resolveModel, resolveTimeoutSeconds } from "../admission/resolve-defaults.ts";

/** The workspace of a task: its directories, and what its prompt files and agent.json contain. */
export interface TaskWorkspace {
  promptFiles: readonly string[];
  agent: AgentFile;
  directories: ExecutionRequest["directories"];
  /** Null or absent: the task belongs to no trace. */
  traceparent?: string | null;
}

/** Builds the request that the adapter executes. The settings of the dispatch take precedence over those of agent.json. */
export function buildExecutionRequest(
  task: Task,
  { promptFiles, agent, directories, traceparent = null }: TaskWorkspace,
): ExecutionRequest {
  const { request } = task;
  const tools = request.tools ?? agent.tools;
  return {
    taskId: taskHandle(task),
    ...(task.parentTaskId !== null && { parentTaskId: taskHandle({ tenant: task.tenant, taskId: task.parentTaskId }) }),
    agentId: task.agentId,
    ...(traceparent !== null && { traceparent, ...(task.tracestate !== null && { tracestate: task.tracestate }) }),
    message: buildMessage(request),
    ...optional("systemPrompt", joinSystemPrompt([...promptFiles, agent.systemPrompt, request.systemPrompt])),
    ...optional("model", resolveModel(request, agent)),
    ...optional("tools", tools?.length === 0 ? undefined : tools),
    ...optional("mcpServers", request.mcpServers),
    timeoutSeconds: resolveTimeoutSeconds(request, agent),
    outputStrategy: request.outputStrategy,
    ...optional("resumeToken", request.resumeToken),
    ...optional("reasoningLevel", request.reasoningLevel),
    profile: request.profile,
    approvals: request.approvals,
    ...optional("metadata", request.metadata),
    ...Object.fromEntries(inputFieldsOf(request).map((field) => [field, request[field]])),
    directories,
  };
}

/** Joins the non-empty parts of a system prompt, from the most general to the most specific; undefined if there are none. */
export function joinSystemPrompt(parts: readonly (string | undefined)[]): string | undefined {
  const present = parts.map((part) => part?.trim()).filter((part) => part !== undefined && part !== "");
  return present.length === 0 ? undefined : present.join("\n\n");
}

/** Joins the message, the input in a labeled block, and the output instructions. */
export function buildMessage({ message, stdin, outputStrategy }: Pick<Task["request"], "message" | "stdin" | "outputStrategy">): string {
  const input = stdin === undefined ? undefined : `Input:\n<stdin>\n${stdin}\n</stdin>`;
  return [message, input, outputInstructions(outputStrategy)].filter((part) => part !== undefined).join("\n\n");
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: Value });
}
