import type { ExecutionAdapter } from "#contract";
import type { AgentProgram } from "../shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { checkLogin } from "../shared/claude-code/login.ts";
import { inProcessConnection } from "./in-process.ts";
import { homeSetting } from "./settings.ts";

const claudeAgentSdk: AgentProgram = {
  provider: "claude-agent-sdk",
  connections: [inProcessConnection],
  findCredentials: (_, argv, context) => checkLogin(argv.slice(0, 1), context, homeSetting),
  multiAgent: "sub-agents through its Agent tool; they run in the task's process with the task's permissions",
  timeoutMultiplier: 1,
};

/** Creates the adapter for the Claude Agent SDK. */
export function createClaudeAgentSdkAdapter(): Required<ExecutionAdapter> {
  return createProgramAdapter(claudeAgentSdk);
}

export { createClaudeAgentSdkAdapter as createAdapter };
