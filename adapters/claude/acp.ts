import { z } from "zod";
import type { ExecutionRequest } from "#contract";
import type { AcpNotice } from "../shared/acp/acp-profile.ts";
import { createAcpConnection } from "../shared/acp/create-acp-connection.ts";
import type { ProgramContext, ProgramLookup } from "../shared/agent-program/agent-program.ts";
import { claudeEnvironment } from "../shared/claude-code/environment.ts";
import { retryReason } from "../shared/claude-code/events.ts";
import { resultSchema, unauthorized } from "../shared/claude-code/result-line.ts";
import { sdkOptions } from "../shared/claude-code/sdk-options.ts";
import { writeFiles } from "../shared/claude-code/task-files.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { readTurnUsage } from "./acp-usage.ts";
import { capabilities } from "./capabilities.ts";
import { homeSetting } from "./home-setting.ts";

/** Where its tools have their names. */
const nameSchema = z.object({ claudeCode: z.object({ toolName: z.string() }) });

/** A code of the protocol. */
const AUTHENTICATION_REQUIRED = -32000;

/** `claude-agent-acp`, which runs the Claude Code that it brings along. */
export const acpConnection = createAcpConnection({
  capabilities,
  emptyAnswers: "accepted",
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
  readNotice,
  readExtension,
  toolName: ({ _meta }) => nameSchema.safeParse(_meta).data?.claudeCode.toolName,
  usageOf: (response) => readTurnUsage(response).usage,
  modelOf: (response) => readTurnUsage(response).model,
  costCounts: "session",
  explainError: ({ code, message }) => (code === AUTHENTICATION_REQUIRED ? unauthorized(message, homeSetting) : undefined),
});

function find({ settings, env }: ProgramContext): ProgramLookup {
  const name = settings.acpCommand ?? "claude-agent-acp";
  const program = findProgram(name, env["PATH"] ?? "");
  if (program !== null) return { argv: [program] };
  return { missing: `${name} is not on the PATH: npm install -g @agentclientprotocol/claude-agent-acp, or set BRIDGE_CLAUDE_ACP_COMMAND.` };
}

/** The same rights as over `cli`, as options of the SDK on which the agent is built. */
function sessionFields(request: ExecutionRequest): Record<string, unknown> {
  const { systemPrompt } = request;
  return {
    _meta: {
      claudeCode: { options: sdkOptions(request), emitRawSDKMessages: [{ type: "system", subtype: "api_retry" }, { type: "result" }] },
    },
    ...(systemPrompt === undefined ? {} : { systemPrompt: { mode: "append", content: [{ type: "text", text: systemPrompt }] } }),
  };
}

const textSchema = z.object({ text: z.string() });

/** A message without an id is the program's own. One such says that a refusal stopped the message before it, and that Claude was asked again. */
export function readNotice({ sessionUpdate, messageId, content }: Readonly<Record<string, unknown>>): AcpNotice | null {
  if (sessionUpdate !== "agent_message_chunk" || (messageId ?? null) !== null) return null;
  const text = textSchema.safeParse(content).data?.text ?? "";
  return /stopped the response above/.test(text) ? { text, discarded: text } : { text };
}

const sdkMessageSchema = z.object({
  message: z.union([z.object({ type: z.literal("system"), subtype: z.literal("api_retry"), error: z.string().optional() }), resultSchema]),
});

/** Messages of the SDK that say what updates leave out: that an answer was thrown away, and which one counts. */
export function readExtension(method: string, params: unknown): AcpNotice | null {
  const message = method === "_claude/sdkMessage" ? sdkMessageSchema.safeParse(params).data?.message : undefined;
  if (message === undefined) return null;
  if (message.type === "system") return { discarded: retryReason(message.error) };
  const { is_error: isError, result = "", structured_output: outputs } = message;
  return isError || result === "" || outputs !== undefined ? null : { answer: result };
}
