import type { PromptResponse } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { NormalizedUsage } from "#contract";
import type { AcpProfile } from "../shared/acp/acp-profile.ts";
import { createAcpConnection } from "../shared/acp/create-acp-connection.ts";
import type { AcpToolCall } from "../shared/acp/read-update.ts";
import type { ProgramConnection } from "../shared/agent-program/agent-program.ts";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import type { TaskTimeline } from "../shared/agent-program/task-timeline.ts";
import { failure } from "../shared/process/failure.ts";
import { type AnswerText, createAnswerText } from "./answer-text.ts";
import { createCommonArguments } from "./arguments.ts";
import { capabilities, findGemini } from "./cli.ts";
import { planGeminiProxy } from "./proxy.ts";
import { createGeminiEnvironment, prepareStart } from "./start.ts";
import { applyTelemetryLog } from "./telemetry-log.ts";

const quotaSchema = z.object({
  quota: z.object({
    token_count: z.object({ input_tokens: z.number(), output_tokens: z.number() }),
    model_usage: z.array(z.object({ model: z.string(), token_count: z.object({ input_tokens: z.number() }) })).default([]),
  }),
});

/**
 * Profile of Gemini CLI over the Agent Client Protocol. The connection `cli` is preferred, because this one
 *
 * - cannot resume a session, because loading a session damages it;
 * - reports only the inputs of commands and edits, the text outputs of tools, and no thinking;
 * - does not distinguish a truncated or withheld answer from a complete one;
 * - reads the settings of a trusted workspace. So no workspace is trusted here, the mode is always `default`, and MCP servers, which need
 *   trust, are not available. The task's policy and Bridge's answers to permission requests enforce the profile.
 */
export const geminiAcpProfile: AcpProfile = {
  capabilities: { ...capabilities, sessionResume: false, mcpServers: false, tools: false, approvals: true },
  emptyAnswers: "accepted",
  planProxy: planGeminiProxy,
  find: findGemini,
  async launch(argv, task) {
    const { env, policyFile } = await prepareStart(task);
    return { argv: [...argv, "--acp", ...createCommonArguments(task.request, policyFile)], env };
  },
  launchProbe: (argv, context) => ({ argv: [...argv, "--acp"], env: createGeminiEnvironment(context) }),
  unsupportedReason: ({ mcpServers = [] }) => (mcpServers.length > 0 ? "it does not support MCP servers. Omit mcpServers." : null),
  prompt: (request) => formatPrompt(request, request.systemPrompt),
  toolName: readToolName,
  toolInput: readToolInput,
  usageOf: readAcpUsage,
  explainEnd: explainAcpEnd,
  modelOf: (response) => quotaSchema.safeParse(response._meta).data?.quota.model_usage[0]?.model,
};

const SHELL = "run_shell_command";

/** Reads the tool name from the beginning of the call id. */
function readToolName({ toolCallId }: AcpToolCall): string | undefined {
  return /^(\w+?)__/.exec(toolCallId)?.[1];
}

/** Reads the input of a command from the title, and that of an edit from the diff in a permission request. */
export function readToolInput(call: AcpToolCall): Record<string, unknown> | undefined {
  if (readToolName(call) === SHELL && typeof call.title === "string") return { command: call.title };
  const diff = call.content?.find(({ type }) => type === "diff");
  return typeof diff?.["path"] === "string" ? { file_path: diff["path"] } : undefined;
}

const agent = createAcpConnection(geminiAcpProfile);

/** Runs tasks over the Agent Client Protocol and corrects their results with Gemini's telemetry log. */
export const acpConnection: ProgramConnection = {
  ...agent,
  async execute(task, argv) {
    const answer = createAnswerText();
    return await applyTelemetryLog(task, await agent.execute({ ...task, timeline: recordText(task.timeline, answer) }, argv), answer);
  },
};

/** Wraps the task's timeline to record its text with Bridge's clock, because the agent's updates carry no time. */
function recordText(timeline: TaskTimeline, answer: AnswerText): TaskTimeline {
  const recording: Pick<TaskTimeline, "appendText" | "startTool" | "finishTool"> = {
    appendText(text) {
      answer.add(text, Date.now());
      timeline.appendText(text);
    },
    startTool(...call) {
      answer.clear();
      timeline.startTool(...call);
    },
    finishTool(...end) {
      answer.clear();
      timeline.finishTool(...end);
    },
  };
  return Object.assign(Object.create(timeline) as TaskTimeline, recording);
}

/** Reads the usage of a turn. Gemini does not report thinking here, so the output excludes it. */
export function readAcpUsage({ _meta }: Pick<PromptResponse, "_meta">): NormalizedUsage | undefined {
  const counted = quotaSchema.safeParse(_meta).data?.quota.token_count;
  return counted === undefined ? undefined : { inputTokens: counted.input_tokens, outputTokens: counted.output_tokens };
}

/**
 * Detects a turn without a complete model call: Gemini counts tokens only of complete calls, so the usage is 0. After a tool call, an
 * incomplete last call cannot be detected.
 */
export function explainAcpEnd(response: PromptResponse): Outcome | undefined {
  const usage = readAcpUsage(response);
  if (response.stopReason !== "end_turn" || usage === undefined || usage.inputTokens + usage.outputTokens > 0) return undefined;
  return failure("model_error", "Gemini received no complete answer from the model. It does not report the reason over acp.");
}
