import type { ExecutionAdapter } from "#contract";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { agentCapabilities, createModelConnection, multiAgent } from "../shared/model-api/create-model-connection.ts";
import { createFindEndpoint } from "./endpoint.ts";

/** Runs tasks on the models of Gloo AI, which it may choose by itself. */
export function createGlooAiAdapter(): Required<ExecutionAdapter> {
  const connection = createModelConnection({ name: "api", capabilities: agentCapabilities, findEndpoint: createFindEndpoint() });
  return createProgramAdapter({
    provider: "gloo-ai",
    connections: [connection],
    findCredentials: (_connection, _argv, context) => connection.findCredentials(context),
    multiAgent,
    timeoutMultiplier: 1,
  });
}

export { createGlooAiAdapter as createAdapter };
