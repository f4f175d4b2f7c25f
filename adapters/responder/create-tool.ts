import { mkdir } from "node:fs/promises";
import { createCommandTool, createFlowmarkTool, type ToolAdapter, type ToolTopic } from "@hak2i/responder-bridge";
import type { AdapterConfig, ExecutionRequest } from "#contract";
import { findProgram } from "../process/find-program.ts";
import { taskMarker } from "../process/sweep-processes.ts";
import { programEnvironment } from "../program/program-environment.ts";

/** The operator's name for FlowMark, whose verdict is in its report and not in its exit code. */
const FLOWMARK = "flowmark";

/** Makes the tool of one task: its programs see what runtimes see, carry the marker of the task, and run in the sandbox where there is one. */
export async function createTool(
  name: string,
  argv: readonly string[],
  { config, request }: { config: AdapterConfig; request: ExecutionRequest },
): Promise<ToolAdapter | { missing: string }> {
  const { workspace, home, tmp } = request.directories;
  const [program = "", ...firstArguments] = argv;
  const found = findProgram(program, config.env["PATH"] ?? "");
  if (found === null) return { missing: `The program of the tool ${name} is not on the PATH: install it, or mend BRIDGE_RESPONDER_TOOLS.` };
  await mkdir(tmp, { recursive: true, mode: 0o700 });
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
    [taskMarker]: request.taskId,
  });
  const options = { command, name, cwd: workspace, env };
  return name === FLOWMARK ? createFlowmarkTool(options) : createCommandTool(options);
}

/** `ai --lang en`: a topic, and what stands after it. */
export function readTopic(text: string): ToolTopic {
  const [topic = "", ...more] = text.split(/\s+/);
  return { topic, arguments: more };
}
