import type { Ending, ProgramConnection, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import { runProgram } from "../shared/agent-program/run-program.ts";
import { createRunReader } from "./events.ts";
import { failure } from "./failures.ts";
import { agentName } from "./permissions.ts";
import { find, probe } from "./program.ts";
import { startUntilAlone } from "./retry-start.ts";
import { type OpenCodeStart, prepareStart } from "./start.ts";

/** One start of `opencode run` a task, told in JSON lines. */
export const cliConnection: ProgramConnection = {
  name: "cli",
  // Lines hold whole parts of the text, and a call that is asked about ends the program.
  capabilities: { ...programCapabilities, streaming: false, approvals: false },
  emptyAnswers: "never",
  find,
  probe,
  execute,
};

async function execute(task: ProgramTask, argv: readonly string[]): Promise<Ending> {
  const start = await prepareStart(task, "cli");
  return "status" in start ? start : await startUntilAlone(() => run(task, argv, start));
}

async function run(task: ProgramTask, argv: readonly string[], { env, model, tally }: OpenCodeStart): Promise<Ending> {
  const { request } = task;
  const reader = createRunReader(tally);
  const modelName = model === null ? null : `${model.providerID}/${model.modelID}`;
  const ending = await runProgram(task, {
    argv: [
      ...[...argv, "run", "--format", "json", "--agent", agentName, `--dir=${request.directories.cwd}`],
      // Values are tied to their flags: a model such as `--attach=http://host/` would be read as a flag.
      // Without a title a model would be asked for one.
      ...["--title", "Bridge"],
      ...(modelName === null ? [] : [`--model=${modelName}`]),
      ...(request.resumeToken === undefined ? [] : [`--session=${request.resumeToken}`]),
    ],
    env,
    // Not in the workspace, whose tsconfig.json could name code for it to load.
    cwd: request.directories.tmp,
    input: promptOf(request),
    // When it exits, it does not wait for what it has written to a pipe.
    stdout: "file",
    read: reader.read,
    // One that is given up goes on calling the model.
    exitAfterEndMs: 500,
    explainExit({ exitCode, stderr }) {
      // The rules hold for every agent, but they were asked for this one.
      if (/agent "bridge" not found/.test(stderr))
        return failure("adapter_error", "OpenCode did not take its agent from the configuration.");
      if (/session not found/i.test(stderr)) return failure("adapter_error", "OpenCode does not know the session of the resume token.");
      return exitCode === 0 ? reader.verdict() : null;
    },
  });
  return { ...ending, ...tally.facts(), ...(modelName === null ? {} : { model: modelName }) };
}
