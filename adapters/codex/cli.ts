import path from "node:path";
import { makePrivateDirectory, writeFileInside } from "@hak2i/nofollow-fs";
import type { Ending, ProgramConnection, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import { runProgram, type Verdict } from "../shared/agent-program/run-program.ts";
import type { ProcessEnd } from "../shared/process/run-process.ts";
import { codexArguments } from "./arguments.ts";
import { cliCapabilities } from "./capabilities.ts";
import { makeHome } from "./codex-home.ts";
import { codexEnvironment } from "./configuration.ts";
import { createCodexReader } from "./events.ts";
import { findCodex } from "./find-codex.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import { probeCodex } from "./probe-codex.ts";
import { isStrictSchema } from "./strict-schema.ts";
import { combine, keepTotal, readSessionUsage, toldUsage, usageBefore } from "./usage.ts";
import { obstacleTo } from "./validate-task.ts";

/** One start of `codex exec` a task, told in JSON lines. */
export const cliConnection: ProgramConnection = {
  name: "cli",
  capabilities: cliCapabilities,
  // Codex drops a refusal and reports an empty answer.
  emptyAnswers: "never",
  find: findCodex,
  probe: probeCodex,
  execute,
};

async function execute(task: ProgramTask, argv: readonly string[]): Promise<Ending> {
  const obstacle = obstacleTo(task);
  if (obstacle !== null) return obstacle;
  const { request, context } = task;
  const before = await usageBefore(task);
  const reader = createCodexReader();
  const ending = await runProgram(task, {
    argv: [...argv, ...codexArguments(request, context, await writeSchema(task))],
    env: codexEnvironment(context, { ...(await makeHome(task)), ...mcpServersOf(request).env }),
    // There is a place for instructions, but it is an argument, which others can read.
    input: promptOf(request, request.systemPrompt),
    read: reader.read,
    explainExit,
  });
  const total = readSessionUsage(reader.sessionUsage);
  await keepTotal(task, reader.session ?? request.resumeToken, total);
  const usage = reader.delegated ? undefined : toldUsage(combine(total, before, -1));
  return {
    ...ending,
    // A stopped turn has no end event, but its session can be resumed.
    ...(task.signal.aborted && reader.session !== undefined && { resumeToken: reader.session }),
    ...(request.model !== undefined && { model: request.model }),
    ...(usage !== undefined && { usage }),
  };
}

const SCHEMA_FILE = "bridge-output-schema.json";

/** The schema as a file, if Codex can take it; else Bridge reads the object from the text. */
async function writeSchema({ request: { outputStrategy, directories } }: ProgramTask): Promise<string | null> {
  if (outputStrategy.type !== "structured" || !isStrictSchema(outputStrategy.schema)) return null;
  makePrivateDirectory(directories.tmp);
  await writeFileInside(directories.tmp, SCHEMA_FILE, JSON.stringify(outputStrategy.schema));
  return path.join(directories.tmp, SCHEMA_FILE);
}

/** What Codex cannot even begin it tells in no line. */
function explainExit({ stderr }: Pick<ProcessEnd, "stderr">): Verdict | null {
  if (!/no rollout found|thread\/resume failed/.test(stderr)) return null;
  return { status: "error", errorCode: "adapter_error", error: "Codex does not know the session of the resume token." };
}
