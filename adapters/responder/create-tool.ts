import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import { createCommandTool, createFlowmarkTool, type ToolAdapter, type ToolTopic } from "@hak2i/responder-bridge";
import type { AdapterConfig, ExecutionRequest } from "#contract";
import { createProgramEnvironment } from "../shared/agent-program/program-environment.ts";
import { TASK_MARKER } from "../shared/process/find-processes.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { labelCommand } from "../shared/process/process-labels.ts";
import { sweepTask } from "../shared/process/sweep-processes.ts";
import { withTraceContext } from "../shared/process/trace-environment.ts";

/** Name of the tool FlowMark, which reports its verdict in its output and not by its exit code. */
const FLOWMARK = "flowmark";

/** The validation tool of one task. */
export interface TaskTool {
  tool: ToolAdapter;
  /** Kills processes that the tool left behind. */
  sweep(): Promise<void>;
}

/**
 * Creates the tool of one task, or returns why it cannot run. Its processes get the environment of a runtime and the marker of the task,
 * and run in the sandbox if one is configured.
 */
export async function createTool(
  name: string,
  argv: readonly string[],
  { config, request }: { config: AdapterConfig; request: ExecutionRequest },
): Promise<TaskTool | { missing: string }> {
  const { workspace, home, tmp } = request.directories;
  const [program = "", ...firstArguments] = argv;
  const file = findProgram(program, config.env["PATH"] ?? "");
  if (file === null)
    return { missing: `The program of the tool ${name} was not found on PATH. Install it, or correct BRIDGE_RESPONDER_TOOLS.` };
  makePrivateDirectory(tmp);
  const toolCommand = [file, ...firstArguments];
  let command = toolCommand;
  try {
    if (config.sandbox !== null) command = config.sandbox.wrap(toolCommand, { cwd: workspace, tmp, writable: [workspace, home] });
  } catch (error) {
    return { missing: (error as Error).message };
  }
  const given = createProgramEnvironment({ env: config.env, settings: { env: [] } }, [], {
    HOME: home,
    TMPDIR: tmp,
    [TASK_MARKER]: request.taskId,
  });
  const env = withTraceContext(given, request);
  const labeled = await labelCommand({ argv: command, cwd: workspace, env, sandbox: config.sandbox });
  const options = { command: labeled.argv, name, cwd: workspace, env };
  return {
    tool: name === FLOWMARK ? createFlowmarkTool(options) : createCommandTool(options),
    async sweep() {
      // The sandbox itself kills its remaining processes.
      if (config.sandbox !== null) return;
      const { taskId } = request;
      const { killed, left } = await sweepTask({ taskId, tmp, home, label: labeled.label });
      if (killed > 0) config.onOrphansKilled(killed);
      if (left > 0) config.logger.warn({ taskId, processes: left }, "failed to kill processes of the task");
    },
  };
}

/** Parses a topic and its arguments, such as `ai --lang en`. */
export function readTopic(text: string): ToolTopic {
  const [topic = "", ...topicArguments] = text.split(/\s+/);
  return { topic, arguments: topicArguments };
}
