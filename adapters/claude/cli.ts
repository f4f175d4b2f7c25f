import type {
  ConnectionResult,
  Probe,
  ProgramConnection,
  ProgramContext,
  ProgramLookup,
  ProgramTask,
} from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { lookUpProgram } from "../shared/agent-program/look-up-program.ts";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import { runProgram } from "../shared/agent-program/run-program.ts";
import { createClaudeEnvironment } from "../shared/claude-code/environment.ts";
import { createClaudeReader } from "../shared/claude-code/events.ts";
import { getNativeSchema, isSchemaRefused } from "../shared/claude-code/native-schema.ts";
import { probeClaude } from "../shared/claude-code/probe-claude.ts";
import { planClaudeProxy } from "../shared/claude-code/proxy.ts";
import { checkSessionId } from "../shared/claude-code/session-id.ts";
import { writeFiles } from "../shared/claude-code/task-files.ts";
import { createClaudeArguments } from "./arguments.ts";
import { homeSetting } from "./settings.ts";

/** Runs one `claude` process per task and reads its output as JSON lines. */
export const cliConnection: ProgramConnection = {
  name: "cli",
  // The running program cannot receive answers to permission requests.
  capabilities: { ...programCapabilities, approvals: false },
  emptyAnswers: "accepted",
  planProxy: (context) => planClaudeProxy(context, homeSetting),
  find,
  probe,
  execute,
};

function find(context: ProgramContext): ProgramLookup {
  const advice = "Run npm install -g @anthropic-ai/claude-code, or set BRIDGE_CLAUDE_COMMAND.";
  return lookUpProgram(context.settings.command ?? "claude", context, advice);
}

/** With an older Node, npm installs an older version, because the newest one requires Node 22. */
const UPDATE_ADVICE = "run npm install -g @anthropic-ai/claude-code with Node 22 or newer";
/** Flags that Bridge needs to enforce a task's profile. */
const REQUIRED_FLAGS = [
  "--restricted",
  "--setting-sources",
  "--settings",
  "--strict-mcp-config",
  "--permission-prompts",
  "--system-prompt-snapshot",
  "--tools",
];

async function probe(argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const version = await probeClaude(argv, context, REQUIRED_FLAGS, UPDATE_ADVICE);
  return { version, detail: `claude ${version}` };
}

async function execute(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const { request } = task;
  const tokenFailure = checkSessionId(request.resumeToken);
  if (tokenFailure !== null) return tokenFailure;
  const files = await writeFiles(request);
  const result = await run(task, [...argv, ...createClaudeArguments(request, files)]);
  if (getNativeSchema(request) === null || !isSchemaRefused(result.error)) return result;
  return await run(task, [...argv, ...createClaudeArguments(request, files, null)]);
}

async function run(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const { request, context, totals } = task;
  let sessionCostUsd: number | undefined;
  const result = await runProgram(task, {
    argv,
    env: createClaudeEnvironment(context, { CLAUDE_CODE_TMPDIR: request.directories.tmp }),
    input: formatPrompt(request),
    read: createClaudeReader({
      homeSetting,
      onSessionCost(costUsd) {
        sessionCostUsd = costUsd;
      },
    }),
  });
  // The `acp` connection may resume this session and reports only the total cost of a session, so the total is stored. After a stopped
  // task, the total is unknown.
  if (result.resumeToken !== undefined)
    await totals.write(request.directories.home, result.resumeToken, sessionCostUsd === undefined ? {} : { costUsd: sessionCostUsd });
  return result;
}
