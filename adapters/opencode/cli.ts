import type { ConnectionResult, ProgramConnection, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { createFailedServerReader } from "../shared/agent-program/failed-mcp-servers.ts";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import { runProgram } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import { createRunReader } from "./events.ts";
import { AGENT_NAME } from "./permissions.ts";
import { FAILED_SERVER, find, LOG_FLAGS, probe } from "./program.ts";
import { planOpenCodeProxy } from "./proxy.ts";
import { retryStart } from "./retry-start.ts";
import { type OpenCodeStart, prepareStart } from "./start.ts";

/** Runs one `opencode run` process per task and reads its output as JSON lines. */
export const cliConnection: ProgramConnection = {
  name: "cli",
  // Each line is a complete part of the text, and the program exits when a call needs permission.
  capabilities: { ...programCapabilities, streaming: false, approvals: false, reportsTools: false },
  emptyAnswers: "never",
  planProxy: planOpenCodeProxy,
  find,
  probe,
  execute,
};

async function execute(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  const start = await prepareStart(task, "cli");
  return "status" in start ? start : await retryStart(() => run(task, argv, start));
}

async function run(task: ProgramTask, argv: readonly string[], { env, model, tally }: OpenCodeStart): Promise<ConnectionResult> {
  const { request } = task;
  const reader = createRunReader(tally);
  const modelName = model === null ? null : `${model.providerID}/${model.modelID}`;
  const result = await runProgram(task, {
    argv: [
      ...[...argv, "run", ...LOG_FLAGS, "--format", "json", "--agent", AGENT_NAME, `--dir=${request.directories.cwd}`],
      // Values are joined to their flags with `=`, because a model such as `--attach=http://host/` would be parsed as a flag.
      // Without a title OpenCode would call a model to generate one.
      ...["--title", "Bridge"],
      ...(modelName === null ? [] : [`--model=${modelName}`]),
      ...(request.resumeToken === undefined ? [] : [`--session=${request.resumeToken}`]),
    ],
    env,
    // tsconfig.json of the workspace could make OpenCode load code if it started there.
    cwd: request.directories.tmp,
    input: formatPrompt(request),
    // OpenCode exits without waiting until its output has been read from a pipe.
    stdout: "file",
    read: reader.read,
    onErrorLine: createFailedServerReader(FAILED_SERVER, task),
    // After a failure the program may still call the model.
    exitAfterEndMs: 500,
    explainExit({ exitCode, stderr }) {
      // The permissions apply to every agent, but OpenCode would run the task with another agent than requested.
      if (/agent "bridge" not found/.test(stderr))
        return failure("adapter_error", "OpenCode did not load Bridge's agent from its configuration.");
      if (/session not found/i.test(stderr)) return failure("adapter_error", "OpenCode does not know the session of the resume token.");
      return exitCode === 0 ? reader.getOutcome() : null;
    },
  });
  return { ...result, ...tally.getFacts(), ...(modelName === null ? {} : { model: modelName }) };
}
