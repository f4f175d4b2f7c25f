import type { ExecutionAdapter } from "#contract";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { agentCapabilities, createModelConnection, multiAgent } from "../shared/model-api/create-model-connection.ts";
import { createFindEndpoint } from "./endpoint.ts";

/** Creates the adapter for Gloo AI, which can choose a model automatically. */
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
