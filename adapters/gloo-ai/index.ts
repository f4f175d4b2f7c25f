import type { ExecutionAdapter } from "#contract";
import { agentCapabilities, createModelConnection, multiAgent } from "../model/create-model-connection.ts";
import { createProgramAdapter } from "../program/create-program-adapter.ts";
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
