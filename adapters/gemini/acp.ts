import type { PromptResponse } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { NormalizedUsage } from "#contract";
import type { AcpProfile } from "../shared/acp/acp-profile.ts";
import { createAcpConnection } from "../shared/acp/create-acp-connection.ts";
import type { AcpToolCall } from "../shared/acp/read-update.ts";
import type { ProgramConnection } from "../shared/agent-program/agent-program.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import type { Verdict } from "../shared/agent-program/run-program.ts";
import type { TaskStory } from "../shared/agent-program/task-story.ts";
import { createSpokenText, type SpokenText } from "./answer-text.ts";
import { commonArguments } from "./arguments.ts";
import { capabilities, findGemini } from "./cli.ts";
import { judgeAnswer } from "./judge-answer.ts";
import { geminiEnvironment, prepareStart } from "./start.ts";

const quotaSchema = z.object({
  quota: z.object({
    token_count: z.object({ input_tokens: z.number(), output_tokens: z.number() }),
    model_usage: z.array(z.object({ model: z.string(), token_count: z.object({ input_tokens: z.number() }) })).default([]),
  }),
});

/**
 * Gemini over the Agent Client Protocol. `cli` is preferred, because this connection cannot resume a session (loading one damages it), reports only the
 * inputs of commands and edits and the text outputs of tools, reports no thinking, does not distinguish a truncated or withheld answer from any other, and
 * reads the settings of a workspace that it trusts. So it trusts none, stays in its mode
 * `default`, and has no MCP servers, which need trust; the policy of the task and Bridge's answers to its questions allow the rest.
 */
export const geminiAcpProfile: AcpProfile = {
  capabilities: { ...capabilities, sessionResume: false, mcpServers: false, tools: false, approvals: true },
  emptyAnswers: "accepted",
  find: findGemini,
  async launch(argv, task) {
    const { env, policyFile } = await prepareStart(task);
    return { argv: [...argv, "--acp", ...commonArguments(task.request, policyFile)], env };
  },
  launchProbe: (argv, context) => ({ argv: [...argv, "--acp"], env: geminiEnvironment(context) }),
  obstacleTo: ({ mcpServers = [] }) => (mcpServers.length > 0 ? "it has no MCP servers: dispatch without them." : null),
  prompt: (request) => promptOf(request, request.systemPrompt),
  toolName,
  toolInput,
  usageOf: acpUsage,
  explainEnd: explainAcpEnd,
  modelOf: (response) => quotaSchema.safeParse(response._meta).data?.quota.model_usage[0]?.model,
};

const SHELL = "run_shell_command";

/** The id of a call begins with the name of its tool. */
function toolName({ toolCallId }: AcpToolCall): string | undefined {
  return /^(\w+?)__/.exec(toolCallId)?.[1];
}

/** Of a command the title is the command itself; of an edit a question shows the file. */
export function toolInput(call: AcpToolCall): Record<string, unknown> | undefined {
  if (toolName(call) === SHELL && typeof call.title === "string") return { command: call.title };
  const diff = call.content?.find(({ type }) => type === "diff");
  return typeof diff?.["path"] === "string" ? { file_path: diff["path"] } : undefined;
}

const agent = createAcpConnection(geminiAcpProfile);

/** Gemini over the Agent Client Protocol, whose answers are judged by its own log. */
export const acpConnection: ProgramConnection = {
  ...agent,
  async execute(task, argv) {
    const spoken = createSpokenText();
    return await judgeAnswer(task, await agent.execute({ ...task, story: noting(task.story, spoken) }, argv), spoken);
  },
};

/** The same story, whose text is noted by the clock of Bridge: the agent's updates carry no time. */
function noting(story: TaskStory, spoken: SpokenText): TaskStory {
  const noted: Pick<TaskStory, "say" | "invokeTool" | "completeTool"> = {
    say(text) {
      spoken.say(text, Date.now());
      story.say(text);
    },
    invokeTool(...call) {
      spoken.clear();
      story.invokeTool(...call);
    },
    completeTool(...end) {
      spoken.clear();
      story.completeTool(...end);
    },
  };
  return Object.assign(Object.create(story) as TaskStory, noted);
}

/** What a turn has used; thinking is not told, so the output stands without it. */
export function acpUsage({ _meta }: Pick<PromptResponse, "_meta">): NormalizedUsage | undefined {
  const counted = quotaSchema.safeParse(_meta).data?.quota.token_count;
  return counted === undefined ? undefined : { inputTokens: counted.input_tokens, outputTokens: counted.output_tokens };
}

/** Only a call of the model that came to its end is counted: none was. After a tool the end of the last one cannot be told. */
export function explainAcpEnd(response: PromptResponse): Verdict | undefined {
  const usage = acpUsage(response);
  if (response.stopReason !== "end_turn" || usage === undefined || usage.inputTokens + usage.outputTokens > 0) return undefined;
  return { status: "error", errorCode: "model_error", error: "Gemini got no whole answer from the model; over acp it does not say why." };
}
