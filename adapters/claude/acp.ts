import { z } from "zod";
import type { ExecutionRequest } from "#contract";
import type { AcpNotice } from "../shared/acp/acp-profile.ts";
import { createAcpConnection } from "../shared/acp/create-acp-connection.ts";
import type { ProgramContext, ProgramLookup } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { describeFailedServers } from "../shared/agent-program/failed-mcp-servers.ts";
import { lookUpProgram } from "../shared/agent-program/look-up-program.ts";
import { createClaudeEnvironment } from "../shared/claude-code/environment.ts";
import { listFailedServers, NO_MODEL, retryReason } from "../shared/claude-code/events.ts";
import { planClaudeProxy } from "../shared/claude-code/proxy.ts";
import { createUnauthorizedOutcome, resultSchema } from "../shared/claude-code/result-line.ts";
import { createSdkOptions } from "../shared/claude-code/sdk-options.ts";
import { writeFiles } from "../shared/claude-code/task-files.ts";
import { homeSetting } from "./settings.ts";
import { readTurnUsage } from "./usage.ts";

/** The field of `_meta` that holds the tool name. */
const nameSchema = z.object({ claudeCode: z.object({ toolName: z.string() }) });

/** JSON-RPC error code that the protocol defines. */
const AUTHENTICATION_REQUIRED = -32000;

/** Connects to `claude-agent-acp`, which runs its bundled Claude Code. */
export const acpConnection = createAcpConnection({
  capabilities: programCapabilities,
  emptyAnswers: "accepted",
  planProxy: (context) => planClaudeProxy(context, homeSetting),
  find,
  async launch(argv, { request, context }) {
    await writeFiles(request);
    const model = request.model === undefined ? {} : { ANTHROPIC_MODEL: request.model };
    return { argv, env: createClaudeEnvironment(context, { ...model, CLAUDE_CODE_TMPDIR: request.directories.tmp }) };
  },
  launchProbe: (argv, context) => ({ argv, env: createClaudeEnvironment(context) }),
  sessionFields,
  readsMcpServers: true,
  // A resumed session would otherwise keep the mode of its previous task.
  mode: ({ profile }) => (profile === "inspect" ? "default" : "acceptEdits"),
  readNotice,
  readExtension,
  toolName: ({ _meta }) => nameSchema.safeParse(_meta).data?.claudeCode.toolName,
  usageOf: (response) => readTurnUsage(response).usage,
  modelOf: (response) => readTurnUsage(response).model,
  costScope: "session",
  explainError: ({ code, message }) => (code === AUTHENTICATION_REQUIRED ? createUnauthorizedOutcome(message, homeSetting) : undefined),
});

function find(context: ProgramContext): ProgramLookup {
  const advice = "Run npm install -g @agentclientprotocol/claude-agent-acp, or set BRIDGE_CLAUDE_ACP_COMMAND.";
  return lookUpProgram(context.settings.acpCommand ?? "claude-agent-acp", context, advice);
}

/** Grants the same permissions as the `cli` connection, as options of the SDK that the agent uses. */
function sessionFields(request: ExecutionRequest): Record<string, unknown> {
  const { systemPrompt } = request;
  return {
    _meta: {
      claudeCode: {
        options: createSdkOptions(request),
        emitRawSDKMessages: [
          { type: "system", subtype: "init" },
          { type: "system", subtype: "api_retry" },
          { type: "assistant" },
          { type: "result" },
        ],
      },
    },
    ...(systemPrompt === undefined ? {} : { systemPrompt: { mode: "append", content: [{ type: "text", text: systemPrompt }] } }),
  };
}

const textSchema = z.object({ text: z.string() });

/**
 * Reads a message without an id. Such a message comes from the program, not from the model. It can report that a refused answer was
 * discarded and retried.
 */
export function readNotice({ sessionUpdate, messageId, content }: Readonly<Record<string, unknown>>): AcpNotice | null {
  if (sessionUpdate !== "agent_message_chunk" || (messageId ?? null) !== null) return null;
  const text = textSchema.safeParse(content).data?.text ?? "";
  return /stopped the response above/.test(text) ? { text, discarded: text } : { text };
}

const sdkMessageSchema = z.object({
  message: z.union([
    z.object({ type: z.literal("system"), subtype: z.literal("init"), mcp_servers: z.unknown() }),
    z.object({ type: z.literal("system"), subtype: z.literal("api_retry"), error: z.string().optional() }),
    z.object({
      type: z.literal("assistant"),
      message: z.object({
        id: z.string(),
        model: z.string(),
        content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
      }),
    }),
    resultSchema,
  ]),
});

/** Reads SDK messages for facts that session updates omit: failed MCP servers, complete and discarded messages, and the final answer. */
export function readExtension(method: string, params: unknown): AcpNotice | null {
  const message = method === "_claude/sdkMessage" ? sdkMessageSchema.safeParse(params).data?.message : undefined;
  if (message === undefined) return null;
  if (message.type === "system" && message.subtype === "init") {
    const failedServers = listFailedServers(message.mcp_servers);
    return failedServers.length === 0 ? null : { progress: describeFailedServers(failedServers) };
  }
  if (message.type === "assistant") {
    const { id, model, content } = message.message;
    const text = content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("");
    return text === "" ? null : { complete: { id, text, isOwn: model === NO_MODEL } };
  }
  if (message.type === "system") return { discarded: retryReason(message.error) };
  const { is_error: isError, result = "", structured_output: outputs } = message;
  return isError || result === "" || outputs !== undefined ? null : { answer: result };
}
