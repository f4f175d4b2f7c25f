import type { ExecutionAdapter } from "#contract";
import type { AgentProgram } from "../shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { addApiFallback } from "../shared/model-api/api-fallback.ts";
import { acpConnection } from "./acp.ts";
import { apiConnection } from "./api.ts";
import { cliConnection } from "./cli.ts";
import { findCredentials } from "./credentials.ts";

const claude: AgentProgram = {
  provider: "claude",
  connections: addApiFallback([acpConnection, cliConnection], apiConnection),
  findCredentials: (connection, argv, context) =>
    connection === "api" ? apiConnection.findCredentials(context) : findCredentials(connection, argv, context),
  multiAgent: "sub-agents through its Agent tool; they run in the task's process with the task's permissions",
  timeoutMultiplier: 1,
};

/** Creates the adapter for Claude Code. */
export function createClaudeAdapter(): Required<ExecutionAdapter> {
  return createProgramAdapter(claude);
}

export { createClaudeAdapter as createAdapter };
