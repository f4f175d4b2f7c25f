import path from "node:path";
import { makePrivateDirectory, writeFileInside } from "@hak2i/nofollow-fs";
import type { ConnectionResult, ProgramConnection, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { createFailedServerReader } from "../shared/agent-program/failed-mcp-servers.ts";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import { type Outcome, runProgram } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import type { ProcessEnd } from "../shared/process/run-process.ts";
import { createCodexArguments } from "./arguments.ts";
import { makeHome } from "./codex-home.ts";
import { createCodexEnvironment } from "./configuration.ts";
import { createCodexReader } from "./events.ts";
import { findCodex } from "./find-codex.ts";
import { configureMcpServers, FAILED_SERVER } from "./mcp-servers.ts";
import { probeCodex } from "./probe-codex.ts";
import { planCodexProxy } from "./proxy.ts";
import { waitForStartTurn } from "./start-turns.ts";
import { isStrictSchema } from "./strict-schema.ts";
import { combineUsage, normalizeUsage, readPreviousUsage, readSessionUsage, writeTotalUsage } from "./usage.ts";
import { validateTask } from "./validate-task.ts";

/** Runs one `codex exec` process per task and reads its output as JSON lines. */
export const cliConnection: ProgramConnection = {
  name: "cli",
  // Codex prints only complete messages, does not report costs, and its sandbox replaces approvals.
  capabilities: { ...programCapabilities, costTracking: false, approvals: false, streaming: false },
  // Codex discards a refusal of the model and reports an empty answer.
  emptyAnswers: "never",
  planProxy: planCodexProxy,
  find: findCodex,
  probe: probeCodex,
  execute,
};

async function execute(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const invalid = validateTask(task);
  if (invalid !== null) return invalid;
  const { request, context } = task;
  const before = await readPreviousUsage(task);
  const reader = createCodexReader();
  const argumentsOfTask = createCodexArguments(request, context, await writeSchema(task));
  const env = createCodexEnvironment(context, { ...(await makeHome(task)), ...configureMcpServers(request).env });
  const endStart = await waitForStartTurn(env, task.signal);
  const result = await runProgram(task, {
    argv: [...argv, ...argumentsOfTask],
    env,
    // Codex also accepts instructions as an argument, but other users of the host can read arguments.
    input: formatPrompt(request, request.systemPrompt),
    read(line) {
      endStart();
      return reader.read(line);
    },
    onErrorLine: createFailedServerReader(FAILED_SERVER, task),
    explainExit,
  }).finally(endStart);
  const total = readSessionUsage(reader.sessionUsage);
  await writeTotalUsage(task, reader.session ?? request.resumeToken, total);
  const usage = reader.hasSubAgents ? undefined : normalizeUsage(combineUsage(total, before, -1));
  return {
    ...result,
    // Codex reports no end of a stopped turn, but the session can be resumed.
    ...(task.signal.aborted && reader.session !== undefined && { resumeToken: reader.session }),
    ...(request.model !== undefined && { model: request.model }),
    ...(usage !== undefined && { usage }),
  };
}

const SCHEMA_FILE = "bridge-output-schema.json";

/**
 * Writes the output schema to a file and returns its path; null if Codex does not support the schema. Bridge then parses the answer's text.
 */
async function writeSchema({ request: { outputStrategy, directories } }: ProgramTask): Promise<string | null> {
  if (outputStrategy.type !== "structured" || !isStrictSchema(outputStrategy.schema)) return null;
  makePrivateDirectory(directories.tmp);
  await writeFileInside(directories.tmp, SCHEMA_FILE, JSON.stringify(outputStrategy.schema));
  return path.join(directories.tmp, SCHEMA_FILE);
}

/** Explains an exit before the first JSON line. */
function explainExit({ stderr }: Pick<ProcessEnd, "stderr">): Outcome | null {
  if (!/no rollout found|thread\/resume failed/.test(stderr)) return null;
  return failure("adapter_error", "Codex does not know the session of the resume token.");
}
