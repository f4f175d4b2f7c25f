import { readdirSync } from "node:fs";
import path from "node:path";
import type { PromptResponse } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { ExecutionRequest, NormalizedUsage } from "#contract";
import type { AcpNotice } from "../shared/acp/acp-profile.ts";
import { createAcpConnection } from "../shared/acp/create-acp-connection.ts";
import type { AcpToolCall } from "../shared/acp/read-update.ts";
import type { Ending, Probe, ProgramConnection, ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import { refuseOldAgent } from "./agent-version.ts";
import { capabilities } from "./capabilities.ts";
import { makeHomeWithSettings, modes } from "./codex-home.ts";
import { codexEnvironment, providerId, taskConfiguration } from "./configuration.ts";
import { findCodexAcp } from "./find-codex.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import { probeSandbox } from "./probe-codex.ts";
import { combine, keepTotal, readTurnUsage, subAgentTools, toldUsage, usageBefore } from "./usage.ts";
import { obstacleTo } from "./validate-task.ts";

const agent = createAcpConnection({
  capabilities,
  // Codex drops a refusal and reports an empty answer.
  emptyAnswers: "never",
  find: findCodexAcp,
  async launch(argv, task) {
    const { request, context } = task;
    const own = { ...(await makeHomeWithSettings(task)), ...mcpServersOf(request).env, MODEL_PROVIDER: providerId };
    return start(argv, context, { ...own, CODEX_CONFIG: JSON.stringify(taskConfiguration(request, context)) });
  },
  launchProbe: (argv, context) => start(argv, context),
  obstacleTo: ({ directories }) =>
    hasOwnSettings(directories) ? "it would obey the settings in .codex in the workspace: move them away, or use cli." : null,
  // As over cli: with their secrets in no argument list, and used without asking.
  readsMcpServers: true,
  sessionFields: ({ resumeToken, systemPrompt, directories: { cwd, workspace } }) => ({
    ...(cwd === workspace ? {} : { additionalDirectories: [workspace] }),
    ...(systemPrompt !== undefined &&
      resumeToken === undefined && { systemPrompt: { mode: "append", content: [{ type: "text", text: systemPrompt }] } }),
  }),
  sessionTitle: "Bridge",
  mode: ({ profile }) => modes[profile],
  // A session that goes on keeps the instructions with which it began; newer ones come with the message.
  prompt: (request) => promptOf(request, request.resumeToken === undefined ? undefined : request.systemPrompt),
  readNotice,
  toolName,
  // With its stdin closed it still waits two seconds for nothing; the session is kept by then.
  exitLimitMs: 300,
  usageOf,
  modelOf,
});

/** `codex-acp`, which drives the app server of Codex. */
export const acpConnection: ProgramConnection = { ...agent, probe, execute };

async function probe(argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const { argv: started, env: own } = start(argv, context);
  const [found] = await Promise.all([
    agent.probe(argv, context),
    probeSandbox(own["CODEX_PATH"] ? [own["CODEX_PATH"]] : [...started, "cli"], context),
  ]);
  refuseOldAgent(found.version);
  return { ...found, detail: `${found.detail}; the sandbox of Codex works` };
}

async function execute(task: ProgramTask, argv: readonly string[]): Promise<Ending> {
  const obstacle = obstacleTo(task);
  if (obstacle !== null) return obstacle;
  const before = await usageBefore(task);
  const ending = await agent.execute(task, argv);
  // Over cli the same session counts from its beginning.
  await keepTotal(task, ending.resumeToken ?? task.request.resumeToken, combine(before, ending.usage, 1));
  return ending;
}

function start([program = "", codex]: readonly string[], context: ProgramContext, own: Readonly<Record<string, string>> = {}) {
  const env = codexEnvironment(context, { ...own, NO_BROWSER: "1", ...(codex !== undefined && { CODEX_PATH: codex }) });
  return { argv: [program], env };
}

/**
 * Over ACP Codex obeys the settings that lie in the directory of its task, such as commands of MCP servers, which run outside of the sandbox.
 * Over cli it leaves them aside.
 */
function hasOwnSettings({ cwd, workspace }: ExecutionRequest["directories"]): boolean {
  for (let directory = cwd; ; directory = path.dirname(directory)) {
    if (!isEmpty(path.join(directory, ".codex"))) return true;
    if (directory === workspace || directory === path.dirname(directory)) return false;
  }
}

/** A sandbox that is stopped may leave an empty directory behind, by which it had kept its task from laying settings. */
function isEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch (error) {
    // Nothing, or no directory.
    return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

const textSchema = z.object({ text: z.string() });
const retrySchema = z.object({ codex: z.object({ error: z.object({ willRetry: z.literal(true), message: z.string().default("") }) }) });
const statusSchema = z.object({ codex: z.object({ threadStatus: z.object({ type: z.literal("systemError") }) }) });

/** Messages without an id are Codex's own: warnings, and why a turn has failed, which ends as if it had gone well. */
export function readNotice({ sessionUpdate, messageId, content, _meta }: Readonly<Record<string, unknown>>): AcpNotice | null {
  if (sessionUpdate === "agent_message_chunk" && (messageId ?? null) === null)
    return { text: textSchema.safeParse(content).data?.text ?? "" };
  const retry = retrySchema.safeParse(_meta).data?.codex.error;
  if (retry !== undefined) return { discarded: retry.message };
  return statusSchema.safeParse(_meta).success ? { failed: true } : null;
}

/** The names that tools have over cli. */
export function toolName({ kind, title, rawInput, _meta }: AcpToolCall): string | undefined {
  const { server, tool, command, senderThreadId } = (rawInput ?? {}) as Record<string, unknown>;
  if (_meta?.["is_mcp_tool_call"] === true && typeof server === "string" && typeof tool === "string") return `mcp__${server}__${tool}`;
  if (command !== undefined) return "shell";
  if (senderThreadId !== undefined) return title?.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return kind === "edit" ? "apply_patch" : undefined;
}

/** What its sub-agents use Codex does not tell, so the usage of a task that had some is not known. */
function usageOf(response: PromptResponse, tools: ReadonlySet<string>): NormalizedUsage | undefined {
  if (subAgentTools.some((tool) => tools.has(tool))) return undefined;
  return toldUsage(readTurnUsage("usage" in response ? response.usage : undefined));
}

const quotaSchema = z.object({ quota: z.object({ model_usage: z.array(z.object({ model: z.string() })) }) });

function modelOf({ _meta }: PromptResponse): string | undefined {
  return quotaSchema.safeParse(_meta).data?.quota.model_usage.at(-1)?.model;
}
