import type { ExecutionAdapter } from "#contract";
import type { AgentProgram } from "../shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { withApi } from "../shared/model-api/with-api.ts";
import { acpConnection } from "./acp.ts";
import { apiConnection } from "./api.ts";
import { cliConnection } from "./cli.ts";
import { findCredentials } from "./credentials.ts";

const gemini: AgentProgram = {
  provider: "gemini",
  // Over `cli` the program can do more; the profile of `acp` says what it cannot do there.
  connections: withApi([cliConnection, acpConnection], apiConnection),
  findCredentials: async (connection, _argv, context) =>
    connection === "api" ? await apiConnection.findCredentials(context) : findCredentials(context),
  multiAgent: "its own agents work in the same process, bound by the same policy",
  timeoutMultiplier: 1,
};

/** Runs tasks with Gemini CLI. */
export function createGeminiAdapter(): Required<ExecutionAdapter> {
  return createProgramAdapter(gemini);
}

export { createGeminiAdapter as createAdapter };
