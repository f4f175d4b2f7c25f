import { readdirSync } from "node:fs";
import path from "node:path";
import type { PromptResponse } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { ExecutionRequest, NormalizedUsage } from "#contract";
import type { AcpNotice } from "../shared/acp/acp-profile.ts";
import { createAcpConnection } from "../shared/acp/create-acp-connection.ts";
import type { AcpToolCall } from "../shared/acp/read-update.ts";
import type { ConnectionResult, Probe, ProgramConnection, ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import { makeHomeWithSettings, modes } from "./codex-home.ts";
import { createCodexEnvironment, createTaskConfiguration, providerId } from "./configuration.ts";
import { findCodexAcp } from "./find-codex.ts";
import { configureMcpServers } from "./mcp-servers.ts";
import { checkAgentVersion, probeSandbox } from "./probe-codex.ts";
import { planCodexProxy } from "./proxy.ts";
import { waitForStartTurn } from "./start-turns.ts";
import { combineUsage, normalizeUsage, readPreviousUsage, readTurnUsage, SUB_AGENT_TOOLS, writeTotalUsage } from "./usage.ts";
import { validateTask } from "./validate-task.ts";

const agent = createAcpConnection({
  // Codex does not report costs, and its sandbox replaces approvals.
  capabilities: { ...programCapabilities, costTracking: false, approvals: false },
  // Codex discards a refusal of the model and reports an empty answer.
  emptyAnswers: "never",
  planProxy: planCodexProxy,
  find: findCodexAcp,
  async launch(argv, task) {
    const { request, context } = task;
    const variables = { ...(await makeHomeWithSettings(task)), ...configureMcpServers(request).env, MODEL_PROVIDER: providerId };
    return createLaunch(argv, context, { ...variables, CODEX_CONFIG: JSON.stringify(createTaskConfiguration(request, context)) });
  },
  waitForStart: ({ env }, signal) => waitForStartTurn(env, signal),
  launchProbe: (argv, context) => createLaunch(argv, context),
  unsupportedReason: ({ directories }) =>
    hasWorkspaceSettings(directories)
      ? "it would load the settings in .codex in the workspace. Remove them, or use the cli connection."
      : null,
  // Codex gets the servers through its configuration, as over cli. So no secret is in an argument, and tools of the servers need no
  // approval.
  readsMcpServers: true,
  sessionFields: ({ resumeToken, systemPrompt, directories: { cwd, workspace } }) => ({
    ...(cwd === workspace ? {} : { additionalDirectories: [workspace] }),
    ...(systemPrompt !== undefined &&
      resumeToken === undefined && { systemPrompt: { mode: "append", content: [{ type: "text", text: systemPrompt }] } }),
  }),
  sessionTitle: "Bridge",
  mode: ({ profile }) => modes[profile],
  // A resumed session keeps its first instructions, so later instructions are part of the message.
  prompt: (request) => formatPrompt(request, request.resumeToken === undefined ? undefined : request.systemPrompt),
  readNotice,
  // Codex does not report the calls that it rejects, such as one of an unknown tool. Only the start of another message shows that the text
  // before it is not the answer.
  answersInLastMessage: true,
  toolName: findToolName,
  // After its stdin closes, codex-acp waits two seconds, although it has stored the session already.
  exitLimitMs: 300,
  usageOf,
  modelOf,
});

/** Connects to `codex-acp`, which controls the app server of Codex. */
export const acpConnection: ProgramConnection = { ...agent, probe, execute };

async function probe(argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const launch = createLaunch(argv, context);
  const codex = launch.env["CODEX_PATH"] ? [launch.env["CODEX_PATH"]] : [...launch.argv, "cli"];
  const [agentProbe] = await Promise.all([agent.probe(argv, context), probeSandbox(codex, context)]);
  checkAgentVersion(agentProbe.version);
  return { ...agentProbe, detail: `${agentProbe.detail}; the sandbox of Codex works` };
}

async function execute(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const failure = validateTask(task);
  if (failure !== null) return failure;
  const before = await readPreviousUsage(task);
  const result = await agent.execute(task, argv);
  // A later task may use the cli connection, which reports the total usage of the session.
  await writeTotalUsage(task, result.resumeToken ?? task.request.resumeToken, combineUsage(before, result.usage, 1));
  return result;
}

function createLaunch([program = "", codex]: readonly string[], context: ProgramContext, variables: Readonly<Record<string, string>> = {}) {
  const env = createCodexEnvironment(context, { ...variables, NO_BROWSER: "1", ...(codex !== undefined && { CODEX_PATH: codex }) });
  return { argv: [program], env };
}

/**
 * Checks for Codex settings in the directory of a task. Over ACP, Codex loads them, and they can start MCP servers outside the sandbox.
 * Over cli, Codex ignores them.
 */
function hasWorkspaceSettings({ cwd, workspace }: ExecutionRequest["directories"]): boolean {
  for (let directory = cwd; ; directory = path.dirname(directory)) {
    if (!isEmpty(path.join(directory, ".codex"))) return true;
    if (directory === workspace || directory === path.dirname(directory)) return false;
  }
}

/** An empty directory is harmless: the sandbox creates one to prevent a task from writing settings, and may leave it when it is stopped. */
function isEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch (error) {
    // The path does not exist or is not a directory.
    return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

const textSchema = z.object({ text: z.string() });
const retrySchema = z.object({ codex: z.object({ error: z.object({ willRetry: z.literal(true), message: z.string().default("") }) }) });
const statusSchema = z.object({ codex: z.object({ threadStatus: z.object({ type: z.literal("systemError") }) }) });

/**
 * Reads updates that are not part of the model's answer: messages without an id, which Codex writes itself (warnings and the reason of a
 * failed turn), retried model calls, and failures. A failed turn ends with the stop reason of a success.
 */
export function readNotice({ sessionUpdate, messageId, content, _meta }: Readonly<Record<string, unknown>>): AcpNotice | null {
  if (sessionUpdate === "agent_message_chunk" && (messageId ?? null) === null)
    return { text: textSchema.safeParse(content).data?.text ?? "" };
  const retry = retrySchema.safeParse(_meta).data?.codex.error;
  if (retry !== undefined) return { discarded: retry.message };
  return statusSchema.safeParse(_meta).success ? { failed: true } : null;
}

/** Returns the tool name that the cli connection reports for the same call. */
export function findToolName({ kind, title, rawInput, _meta }: AcpToolCall): string | undefined {
  const { server, tool, command, senderThreadId } = (rawInput ?? {}) as Record<string, unknown>;
  if (_meta?.["is_mcp_tool_call"] === true && typeof server === "string" && typeof tool === "string") return `mcp__${server}__${tool}`;
  if (command !== undefined) return "shell";
  if (senderThreadId !== undefined) return title?.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return kind === "edit" ? "apply_patch" : undefined;
}

/** Returns the usage of a turn; undefined if the turn used sub-agents, whose usage Codex does not report. */
function usageOf(response: PromptResponse, tools: ReadonlySet<string>): NormalizedUsage | undefined {
  if (SUB_AGENT_TOOLS.some((tool) => tools.has(tool))) return undefined;
  return normalizeUsage(readTurnUsage("usage" in response ? response.usage : undefined));
}

const quotaSchema = z.object({ quota: z.object({ model_usage: z.array(z.object({ model: z.string() })) }) });

function modelOf({ _meta }: PromptResponse): string | undefined {
  return quotaSchema.safeParse(_meta).data?.quota.model_usage.at(-1)?.model;
}
