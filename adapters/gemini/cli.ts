import { z } from "zod";
import type { AdapterCapabilities } from "#contract";
import type {
  ConnectionResult,
  ProgramConnection,
  ProgramContext,
  ProgramLookup,
  ProgramTask,
} from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { createFailedServerReader } from "../shared/agent-program/failed-mcp-servers.ts";
import { lookUpProgram } from "../shared/agent-program/look-up-program.ts";
import { probeVersion } from "../shared/agent-program/probe-program.ts";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import { runProgram } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import { createCliArguments } from "./arguments.ts";
import { escapeMentions } from "./escape-mentions.ts";
import { createGeminiReader } from "./events.ts";
import { planGeminiProxy } from "./proxy.ts";
import { FAILED_SERVER } from "./settings-file.ts";
import { createGeminiEnvironment, prepareStart } from "./start.ts";
import { applyTelemetryLog } from "./telemetry-log.ts";
import { findLoadedEnvFile, needsTrust } from "./workspace-trust.ts";

/** Finds `gemini`, which both connections use. */
export function findGemini(context: ProgramContext): ProgramLookup {
  const advice = "Run npm install -g @google/gemini-cli, or set BRIDGE_GEMINI_COMMAND.";
  return lookUpProgram(context.settings.command ?? "gemini", context, advice);
}

/** Capabilities over `cli`. Gemini denies tools that the task's policy does not allow, and does not report costs. */
export const capabilities: AdapterCapabilities = { ...programCapabilities, costTracking: false, approvals: false };

/** Runs one process per task and reads its output as JSON lines. */
export const cliConnection: ProgramConnection = {
  name: "cli",
  capabilities,
  emptyAnswers: "accepted",
  planProxy: planGeminiProxy,
  // Gemini reads MCP servers from its settings. In the operator's home directory those belong to the operator, so Bridge cannot add any.
  configuredCapabilities: ({ settings }) => (settings.home === "user" ? { tools: false } : {}),
  // Without an interactive user, Gemini removes every tool with the name of its built-in tool for questions.
  reservedToolNames: ["ask_user"],
  find: findGemini,
  async probe(argv, context) {
    const version = await probeVersion(context, argv, createGeminiEnvironment(context));
    return { version, detail: `gemini ${version} at ${argv[0]}` };
  },
  execute,
};

async function execute(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const { request, context } = task;
  const error = validateTask(task);
  if (error !== null) return failure("adapter_error", error);
  const { env, policyFile } = await prepareStart(task);
  const reader = createGeminiReader();
  const programResult = await runProgram(task, {
    argv: [...argv, ...createCliArguments(request, { policyFile, isTrusted: needsTrust(request, context) })],
    env,
    input: escapeMentions(formatPrompt(request, request.systemPrompt), request.directories.cwd, {
      // Bridge's configuration disables the search.
      searches: context.settings.home === "user",
    }),
    read: reader.read,
    onErrorLine: createFailedServerReader(FAILED_SERVER, task),
    explainExit: reader.explainExit,
  });
  const result = await applyTelemetryLog(task, programResult, reader.answer);
  // Gemini reports no end of a stopped turn, but its session can be resumed.
  const isStopped = task.signal.aborted && reader.storedSession !== undefined;
  return { ...result, ...(isStopped && { resumeToken: reader.storedSession }) };
}

/** Checks a task before Gemini starts. Returns why it cannot run, and what to change; null if it can. */
function validateTask({ request, context }: ProgramTask): string | null {
  const { home } = context.settings;
  // Gemini would read other values as the latest session, or as the index of a session.
  if (request.resumeToken !== undefined && !z.uuid().safeParse(request.resumeToken).success)
    return `The resume token must be the UUID of a Gemini session; got ${request.resumeToken.slice(0, 100)}.`;
  if (home === "user" && (request.mcpServers ?? []).length > 0)
    return "With BRIDGE_GEMINI_HOME=user, Gemini CLI supports neither MCP servers nor declared tools, because it reads them only from its own settings. Set BRIDGE_GEMINI_HOME=agent, or omit mcpServers and tools.";
  if (!needsTrust(request, context)) return null;
  const envFile = findLoadedEnvFile(request.directories.cwd, context);
  if (envFile === null) return null;
  const alternative =
    home === "user"
      ? "if it is a plain .env, set advanced.ignoreLocalEnv in your Gemini settings"
      : "dispatch with the profile inspect and without MCP servers";
  return `Gemini would load environment variables from ${envFile}. Remove the file, or ${alternative}.`;
}
