import type { ExecutionAdapter } from "#contract";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { agentCapabilities, createModelConnection, multiAgent } from "../shared/model-api/create-model-connection.ts";
import { findEndpoint } from "./endpoint.ts";

/** Creates the adapter for models behind an OpenAI-compatible or Anthropic endpoint. Bridge calls the model in its own process. */
export function createVercelAiAdapter(): Required<ExecutionAdapter> {
  const connection = createModelConnection({ name: "in-process", capabilities: agentCapabilities, findEndpoint });
  return createProgramAdapter({
    provider: "vercel-ai",
    connections: [connection],
    findCredentials: (_connection, _argv, context) => connection.findCredentials(context),
    multiAgent,
    timeoutMultiplier: 1,
  });
}

export { createVercelAiAdapter as createAdapter };
