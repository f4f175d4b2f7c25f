import { findProgram } from "../process/find-program.ts";
import type { Ending, Finding, Probe, ProgramConnection, ProgramContext, ProgramTask } from "../program/agent-program.ts";
import { probeProgram, probeVersion } from "../program/probe-program.ts";
import { promptOf } from "../program/prompt.ts";
import { runProgram } from "../program/run-program.ts";
import { claudeArguments, nativeSchema } from "./arguments.ts";
import { cliCapabilities } from "./capabilities.ts";
import { claudeEnvironment } from "./environment.ts";
import { createClaudeReader } from "./events.ts";
import { writeFiles } from "./task-files.ts";

/** One start of `claude` a task, told in JSON lines. */
export const cliConnection: ProgramConnection = { name: "cli", capabilities: cliCapabilities, find, probe, execute };

function find({ settings, env }: ProgramContext): Finding {
  const name = settings.command ?? "claude";
  const program = findProgram(name, env["PATH"] ?? "");
  if (program !== null) return { argv: [program] };
  return { missing: `${name} is not on the PATH: npm install -g @anthropic-ai/claude-code, or set BRIDGE_CLAUDE_COMMAND.` };
}

/** Flags without which a task would not be what its dispatch asked for; a version that does not know them says so before any task does. */
const neededFlags = [
  "--restricted",
  "--setting-sources",
  "--strict-mcp-config",
  "--permission-prompts",
  "--system-prompt-snapshot",
  "--tools",
];

async function probe(argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const env = claudeEnvironment(context);
  const [version, help] = await Promise.all([probeVersion(context, argv, env), probeProgram(context, { argv: [...argv, "--help"], env })]);
  const unknown = neededFlags.filter((flag) => !help.stdout.includes(flag));
  if (unknown.length > 0)
    throw new Error(`claude ${version} does not know ${unknown.join(", ")}: npm install -g @anthropic-ai/claude-code`);
  return { version, detail: `claude ${version}` };
}

const sessionId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

async function execute(task: ProgramTask, argv: readonly string[]): Promise<Ending> {
  const { request } = task;
  // Anything else could be the title of a session, of which there may be several.
  if (request.resumeToken !== undefined && !sessionId.test(request.resumeToken))
    return { status: "error", errorCode: "adapter_error", error: "The resume token is not the id of a Claude Code session." };
  const files = await writeFiles(request);
  const ending = await run(task, [...argv, ...claudeArguments(request, files)]);
  // What it takes for no schema it refuses before it does anything; Bridge then reads the object from the text.
  if (nativeSchema(request) === null || ending.error?.includes("--json-schema is not a valid JSON Schema") !== true) return ending;
  return await run(task, [...argv, ...claudeArguments(request, files, null)]);
}

async function run(task: ProgramTask, argv: readonly string[]): Promise<Ending> {
  const { request, context, totals } = task;
  let sessionCostUsd: number | undefined;
  const ending = await runProgram(task, {
    argv,
    env: claudeEnvironment(context, { CLAUDE_CODE_TMPDIR: request.directories.tmp }),
    input: promptOf(request),
    read: createClaudeReader((costUsd) => {
      sessionCostUsd = costUsd;
    }),
  });
  // Over `acp`, where the session may go on, only its whole cost is told; what a stopped task has added to it nobody knows.
  if (ending.resumeToken !== undefined)
    await totals.write(request.directories.home, ending.resumeToken, sessionCostUsd === undefined ? {} : { costUsd: sessionCostUsd });
  return ending;
}
