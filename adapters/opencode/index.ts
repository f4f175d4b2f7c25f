import type { ExecutionAdapter, ModelLister } from "#contract";
import type { AgentProgram } from "../shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { cliConnection } from "./cli.ts";
import { findCredentials } from "./credentials.ts";
import { httpApiConnection } from "./http-api.ts";
import { listModels } from "./list-models.ts";

const opencode: AgentProgram = {
  provider: "opencode",
  connections: [httpApiConnection, cliConnection],
  findCredentials,
  listModels,
  multiAgent: "sub-agents through its task tool, if the task's approvals allow it",
  timeoutMultiplier: 1.5,
};

/** Creates the adapter for OpenCode. */
export function createOpenCodeAdapter(): Required<ExecutionAdapter> & ModelLister {
  return createProgramAdapter(opencode);
}

export { createOpenCodeAdapter as createAdapter };
