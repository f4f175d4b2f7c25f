import { createMCPClient, type MCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import type { McpServerSpec } from "#contract";

/** Connects to an MCP server as an agent program does. */
export async function connectToServer(spec: McpServerSpec): Promise<MCPClient> {
  if (spec.transport === "stdio") {
    const { command, args = [], env = {} } = spec;
    return await createMCPClient({ transport: new StdioTransport({ command, args, env }) });
  }
  return await createMCPClient({
    transport: { type: spec.transport, url: spec.url, headers: spec.headers ?? {} },
    onUncaughtError: () => {},
  });
}
