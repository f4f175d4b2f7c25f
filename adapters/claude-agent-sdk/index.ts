import type { ExecutionAdapter } from "#contract";
import type { AgentProgram } from "../shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { findCredentials } from "./credentials.ts";
import { inProcessConnection } from "./in-process.ts";

const claudeAgentSdk: AgentProgram = {
  provider: "claude-agent-sdk",
  connections: [inProcessConnection],
  findCredentials,
  multiAgent: "sub-agents through its Agent tool; they run in the task's process with the task's permissions",
  timeoutMultiplier: 1,
};

/** Creates the adapter for the Claude Agent SDK. */
export function createClaudeAgentSdkAdapter(): Required<ExecutionAdapter> {
  return createProgramAdapter(claudeAgentSdk);
}

export { createClaudeAgentSdkAdapter as createAdapter };
