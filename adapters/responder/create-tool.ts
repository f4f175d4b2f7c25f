import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import { createCommandTool, createFlowmarkTool, type ToolAdapter, type ToolTopic } from "@hak2i/responder-bridge";
import type { AdapterConfig, ExecutionRequest } from "#contract";
import { programEnvironment } from "../shared/agent-program/program-environment.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { labelCommand } from "../shared/process/process-labels.ts";
import { sweepTask, TASK_MARKER } from "../shared/process/sweep-processes.ts";

/** The operator's name for FlowMark, whose verdict is in its report and not in its exit code. */
const FLOWMARK = "flowmark";

/** The tool of one task. */
export interface TaskTool {
  tool: ToolAdapter;
  /** Ends the processes that the runs of the tool have left behind. */
  sweep(): Promise<void>;
}

/** Makes the tool of one task: its programs see what runtimes see, carry the marker of the task, and run in the sandbox where there is one. */
export async function createTool(
  name: string,
  argv: readonly string[],
  { config, request }: { config: AdapterConfig; request: ExecutionRequest },
): Promise<TaskTool | { missing: string }> {
  const { workspace, home, tmp } = request.directories;
  const [program = "", ...firstArguments] = argv;
  const found = findProgram(program, config.env["PATH"] ?? "");
  if (found === null) return { missing: `The program of the tool ${name} is not on the PATH: install it, or mend BRIDGE_RESPONDER_TOOLS.` };
  makePrivateDirectory(tmp);
  const plain = [found, ...firstArguments];
  let command = plain;
  try {
    if (config.sandbox !== null) command = config.sandbox.wrap(plain, { cwd: workspace, tmp, writable: [workspace, home] });
  } catch (error) {
    return { missing: (error as Error).message };
  }
  const env = programEnvironment({ env: config.env, settings: { env: [] } }, [], {
    HOME: home,
    TMPDIR: tmp,
    [TASK_MARKER]: request.taskId,
  });
  const labeled = await labelCommand({ argv: command, cwd: workspace, env, sandbox: config.sandbox });
  const options = { command: labeled.argv, name, cwd: workspace, env };
  return {
    tool: name === FLOWMARK ? createFlowmarkTool(options) : createCommandTool(options),
    async sweep() {
      // A sandbox has ended what its program started.
      if (config.sandbox !== null) return;
      const { taskId } = request;
      const { killed, left } = await sweepTask({ taskId, tmp, home, label: labeled.label });
      if (killed > 0) config.onOrphansKilled(killed);
      if (left > 0) config.logger.warn({ taskId, processes: left }, "processes of the task could not be killed");
    },
  };
}

/** `ai --lang en`: a topic, and what stands after it. */
export function readTopic(text: string): ToolTopic {
  const [topic = "", ...more] = text.split(/\s+/);
  return { topic, arguments: more };
}
