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
  multiAgent: "sub-agents of its own, by its tool task, where everything is allowed",
  timeoutMultiplier: 1.5,
};

/** Runs tasks on OpenCode. */
export function createOpenCodeAdapter(): Required<ExecutionAdapter> & ModelLister {
  return createProgramAdapter(opencode);
}

export { createOpenCodeAdapter as createAdapter };
