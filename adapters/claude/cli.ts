import type {
  ConnectionResult,
  Probe,
  ProgramConnection,
  ProgramContext,
  ProgramLookup,
  ProgramTask,
} from "../shared/agent-program/agent-program.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import { runProgram } from "../shared/agent-program/run-program.ts";
import { claudeEnvironment } from "../shared/claude-code/environment.ts";
import { createClaudeReader } from "../shared/claude-code/events.ts";
import { isSchemaRefused, nativeSchema } from "../shared/claude-code/native-schema.ts";
import { probeClaude } from "../shared/claude-code/probe-claude.ts";
import { checkSessionId } from "../shared/claude-code/session-id.ts";
import { writeFiles } from "../shared/claude-code/task-files.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { claudeArguments } from "./arguments.ts";
import { cliCapabilities } from "./capabilities.ts";
import { homeSetting } from "./settings.ts";

/** One start of `claude` a task, told in JSON lines. */
export const cliConnection: ProgramConnection = {
  name: "cli",
  capabilities: cliCapabilities,
  emptyAnswers: "accepted",
  find,
  probe,
  execute,
};

function find({ settings, env }: ProgramContext): ProgramLookup {
  const name = settings.command ?? "claude";
  const program = findProgram(name, env["PATH"] ?? "");
  if (program !== null) return { argv: [program] };
  return { missing: `${name} is not on the PATH: npm install -g @anthropic-ai/claude-code, or set BRIDGE_CLAUDE_COMMAND.` };
}

/** Flags without which a task would not be what its dispatch asked for. */
const neededFlags = [
  "--restricted",
  "--setting-sources",
  "--settings",
  "--strict-mcp-config",
  "--permission-prompts",
  "--system-prompt-snapshot",
  "--tools",
];

async function probe(argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const version = await probeClaude(argv, context, neededFlags, "npm install -g @anthropic-ai/claude-code");
  return { version, detail: `claude ${version}` };
}

async function execute(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const { request } = task;
  const refused = checkSessionId(request.resumeToken);
  if (refused !== null) return refused;
  const files = await writeFiles(request);
  const ending = await run(task, [...argv, ...claudeArguments(request, files)]);
  if (nativeSchema(request) === null || !isSchemaRefused(ending.error)) return ending;
  return await run(task, [...argv, ...claudeArguments(request, files, null)]);
}

async function run(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const { request, context, totals } = task;
  let sessionCostUsd: number | undefined;
  const ending = await runProgram(task, {
    argv,
    env: claudeEnvironment(context, { CLAUDE_CODE_TMPDIR: request.directories.tmp }),
    input: promptOf(request),
    read: createClaudeReader({
      homeSetting,
      onSessionCost(costUsd) {
        sessionCostUsd = costUsd;
      },
    }),
  });
  // Over `acp`, where the session may go on, only its whole cost is told; what a stopped task has added to it nobody knows.
  if (ending.resumeToken !== undefined)
    await totals.write(request.directories.home, ending.resumeToken, sessionCostUsd === undefined ? {} : { costUsd: sessionCostUsd });
  return ending;
}
