import type { ExecutionAdapter, ModelLister } from "#contract";
import type { AgentProgram } from "../shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { addApiFallback } from "../shared/model-api/api-fallback.ts";
import { acpConnection } from "./acp.ts";
import { apiConnection } from "./api.ts";
import { cliConnection } from "./cli.ts";
import { findCredentials } from "./credentials.ts";
import { listModels } from "./list-models.ts";

const codex: AgentProgram = {
  provider: "codex",
  connections: addApiFallback([acpConnection, cliConnection], apiConnection),
  findCredentials: (connection, argv, context) =>
    connection === "api" ? apiConnection.findCredentials(context) : findCredentials(connection, argv, context),
  listModels,
  multiAgent: "sub-agents if the task asks for them; they run in the task's process and sandbox",
  timeoutMultiplier: 1,
};

/** Creates the adapter for Codex. */
export function createCodexAdapter(): Required<ExecutionAdapter> & ModelLister {
  return createProgramAdapter(codex);
}

export { createCodexAdapter as createAdapter };
