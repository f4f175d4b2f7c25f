import type { ExecutionAdapter } from "#contract";
import type { AgentProgram } from "../shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { addApiFallback } from "../shared/model-api/api-fallback.ts";
import { acpConnection } from "./acp.ts";
import { apiConnection } from "./api.ts";
import { cliConnection } from "./cli.ts";
import { findCredentials } from "./credentials.ts";

const gemini: AgentProgram = {
  provider: "gemini",
  // The connection `cli` is preferred; `geminiAcpProfile` lists the limits of `acp`.
  connections: addApiFallback([cliConnection, acpConnection], apiConnection),
  findCredentials: async (connection, _argv, context) =>
    connection === "api" ? await apiConnection.findCredentials(context) : findCredentials(context),
  multiAgent: "built-in agents; they run in the task's process under the task's policy",
  timeoutMultiplier: 1,
};

/** Creates the adapter for Gemini CLI. */
export function createGeminiAdapter(): Required<ExecutionAdapter> {
  return createProgramAdapter(gemini);
}

export { createGeminiAdapter as createAdapter };
