import { z } from "zod";
import type { GatewayCapabilities } from "#contract";
import type { Ending, Finding, ProgramConnection, ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { probeVersion } from "../shared/agent-program/probe-program.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import { runProgram } from "../shared/agent-program/run-program.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { cliArguments } from "./arguments.ts";
import { escapeMentions } from "./escape-mentions.ts";
import { createGeminiReader } from "./events.ts";
import { judgeAnswer } from "./judge-answer.ts";
import { geminiEnvironment, prepareStart } from "./start.ts";
import { findObeyedFile, needsTrust } from "./workspace-trust.ts";

/** Finds the program, which is the same for both connections. */
export function findGemini({ settings, env }: ProgramContext): Finding {
  const command = settings.command ?? "gemini";
  const program = findProgram(command, env["PATH"] ?? "");
  if (program !== null) return { argv: [program] };
  return { missing: `${command} is not on the PATH: npm install -g @google/gemini-cli, or set BRIDGE_GEMINI_COMMAND.` };
}

/** What the program can do over `cli`. It refuses tools by itself that the policy of a task does not allow; it tells no cost. */
export const capabilities: GatewayCapabilities = { ...programCapabilities, costTracking: false, approvals: false };

/** One process a task, which reads the prompt from stdin and tells its story in JSON lines. */
export const cliConnection: ProgramConnection = {
  name: "cli",
  capabilities,
  emptyAnswers: "accepted",
  // Its MCP servers stand in its settings, which are the operator's there.
  claims: ({ settings }) => (settings.home === "user" ? { tools: false } : {}),
  // Where nobody can be asked, Gemini leaves out every tool that is called like its own for asking.
  reservedToolNames: ["ask_user"],
  find: findGemini,
  async probe(argv, context) {
    const version = await probeVersion(context, argv, geminiEnvironment(context));
    return { version, detail: `gemini ${version} at ${argv[0]}` };
  },
  execute,
};

async function execute(task: ProgramTask, argv: readonly string[]): Promise<Ending> {
  const { request, context } = task;
  const refusal = refusalOf(task);
  if (refusal !== null) return { status: "error", errorCode: "adapter_error", error: refusal };
  const { env, policyFile } = await prepareStart(task);
  const reader = createGeminiReader();
  const ending = await runProgram(task, {
    argv: [...argv, ...cliArguments(request, { policyFile, trusted: needsTrust(request, context) })],
    env,
    input: escapeMentions(promptOf(request, request.systemPrompt), request.directories.cwd, {
      // Our own settings turn that off.
      searches: context.settings.home === "user",
    }),
    read: reader.read,
    explainExit: reader.explainExit,
  });
  const judged = await judgeAnswer(task, ending, reader.spoken);
  // A stopped turn has no end event, but its session can be resumed.
  const isStopped = task.signal.aborted && reader.keptSession !== undefined;
  return { ...judged, ...(isStopped && { resumeToken: reader.keptSession }) };
}

/** Why the task cannot be carried out as it was asked for, in words for whoever can change that. */
function refusalOf({ request, context }: ProgramTask): string | null {
  const { home } = context.settings;
  // The program would take other words for the newest session, or for one by its number.
  if (request.resumeToken !== undefined && !z.uuid().safeParse(request.resumeToken).success)
    return `${request.resumeToken.slice(0, 100)} is no session of Gemini: those have a UUID.`;
  if (home === "user" && (request.mcpServers ?? []).length > 0)
    return "With BRIDGE_GEMINI_HOME=user, Gemini CLI supports neither MCP servers nor declared tools, because it reads them only from its own settings. Set BRIDGE_GEMINI_HOME=agent, or omit mcpServers and tools.";
  if (!needsTrust(request, context)) return null;
  const obeyed = findObeyedFile(request.directories.cwd, context);
  if (obeyed === null) return null;
  const other =
    home === "user"
      ? "set advanced.ignoreLocalEnv in your settings of Gemini where it is a plain .env"
      : "dispatch with the profile inspect and without MCP servers";
  return `Gemini would obey the variables in ${obeyed}. Remove the file, or ${other}.`;
}
