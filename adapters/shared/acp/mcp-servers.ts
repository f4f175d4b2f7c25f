import type { McpCapabilities, McpServer } from "@agentclientprotocol/sdk";
import type { McpServerSpec } from "#contract";
import type { OfferedTools } from "../declared-tools/offered-tools.ts";
import { AcpFailure } from "./acp-failure.ts";

/**
 * Converts the MCP servers of a task to the protocol's format. Throws an `AcpFailure` if the agent does not support a
 * server's transport.
 */
export function convertMcpServers(
  specs: readonly McpServerSpec[],
  capabilities: McpCapabilities | undefined,
  offeredTools?: OfferedTools,
): McpServer[] {
  return specs.map((original) => {
    // Every agent supports stdio.
    const spec = original === offeredTools?.http && capabilities?.http !== true ? offeredTools.stdio : original;
    if (spec.transport === "stdio") return { name: spec.name, command: spec.command, args: spec.args ?? [], env: listPairs(spec.env) };
    if (capabilities?.[spec.transport] !== true)
      throw new AcpFailure(
        "adapter_error",
        `The agent cannot use the MCP server "${spec.name}": it does not support the transport "${spec.transport}" over ACP. Use a stdio server, or omit the server.`,
      );
    return { type: spec.transport, name: spec.name, url: spec.url, headers: listPairs(spec.headers) };
  });
}

const listPairs = (record: Record<string, string> = {}) => Object.entries(record).map(([name, value]) => ({ name, value }));
