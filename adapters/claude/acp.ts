import { z } from "zod";
import type { ExecutionRequest, NormalizedUsage } from "#contract";
import { createAcpConnection } from "../acp/create-acp-connection.ts";
import { findProgram } from "../process/find-program.ts";
import type { Finding, ProgramContext } from "../program/agent-program.ts";
import { allowedTools, commonFlags, toolsFor } from "./arguments.ts";
import { capabilities } from "./capabilities.ts";
import { claudeEnvironment } from "./environment.ts";
import { filesIn, writeFiles } from "./task-files.ts";

/** `claude-agent-acp`, which runs the Claude Code that it brings along. */
export const acpConnection = createAcpConnection({
  capabilities,
  find,
  async launch(argv, { request, context }) {
    await writeFiles(request);
    const model = request.model === undefined ? {} : { ANTHROPIC_MODEL: request.model };
    return { argv, env: claudeEnvironment(context, { ...model, CLAUDE_CODE_TMPDIR: request.directories.tmp }) };
  },
  launchProbe: (argv, context) => ({ argv, env: claudeEnvironment(context) }),
  sessionFields,
  readsMcpServers: true,
  // A resumed session would go on in the mode of its last task.
  mode: ({ profile }) => (profile === "inspect" ? "default" : "acceptEdits"),
  toolName: ({ _meta }) => (_meta?.["claudeCode"] as { toolName?: string } | undefined)?.toolName,
  usageOf: (response) => readUsage("usage" in response ? response.usage : undefined),
  costCounts: "session",
});

function find({ settings, env }: ProgramContext): Finding {
  const name = settings.acpCommand ?? "claude-agent-acp";
  const program = findProgram(name, env["PATH"] ?? "");
  if (program !== null) return { argv: [program] };
  return { missing: `${name} is not on the PATH: npm install -g @agentclientprotocol/claude-agent-acp, or set BRIDGE_CLAUDE_ACP_COMMAND.` };
}

/** The same rights as over `cli`, as options of the SDK on which the agent is built. */
function sessionFields(request: ExecutionRequest): Record<string, unknown> {
  const options = {
    settingSources: [],
    strictMcpConfig: true,
    promptSuggestions: false,
    // Named, a session needs no further call of the model to get a name.
    title: "Bridge",
    tools: toolsFor(request),
    allowedTools: allowedTools(request),
    extraArgs: commonFlags(request, filesIn(request.directories.tmp)),
  };
  const { systemPrompt } = request;
  return {
    _meta: { claudeCode: { options } },
    ...(systemPrompt === undefined ? {} : { systemPrompt: { mode: "append", content: [{ type: "text", text: systemPrompt }] } }),
  };
}

const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  thoughtTokens: z.number().nullish(),
  cachedReadTokens: z.number().nullish(),
  cachedWriteTokens: z.number().nullish(),
});

/** The usage in the answer to a prompt, of that turn alone; the counts of the prompt do not overlap. */
export function readUsage(reported: unknown): NormalizedUsage | undefined {
  const usage = usageSchema.safeParse(reported).data;
  if (usage === undefined) return undefined;
  const { inputTokens, outputTokens, thoughtTokens, cachedReadTokens, cachedWriteTokens } = usage;
  return {
    inputTokens: inputTokens + (cachedReadTokens ?? 0) + (cachedWriteTokens ?? 0),
    outputTokens,
    ...(typeof thoughtTokens === "number" && { thinkingTokens: thoughtTokens }),
    ...(typeof cachedReadTokens === "number" && { cacheReadTokens: cachedReadTokens }),
    ...(typeof cachedWriteTokens === "number" && { cacheWriteTokens: cachedWriteTokens }),
  };
}
