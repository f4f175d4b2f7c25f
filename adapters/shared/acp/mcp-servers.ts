import type { McpCapabilities, McpServer } from "@agentclientprotocol/sdk";
import type { McpServerSpec } from "#contract";
import type { OfferedTools } from "../declared-tools/offered-tools.ts";
import { AcpFailure } from "./acp-failure.ts";

/**
 * Converts the MCP servers of a task to the protocol's format. Throws an `AcpFailure` if the agent does not support a
 * server's transport.
 */
export function mcpServersFor(
  specs: readonly McpServerSpec[],
  capabilities: McpCapabilities | undefined,
  offeredTools?: OfferedTools,
): McpServer[] {
  return specs.map((given) => {
    // Every agent supports stdio.
    const spec = given === offeredTools?.http && capabilities?.http !== true ? offeredTools.stdio : given;
    if (spec.transport === "stdio") return { name: spec.name, command: spec.command, args: spec.args ?? [], env: pairs(spec.env) };
    if (capabilities?.[spec.transport] !== true)
      throw new AcpFailure(
        "adapter_error",
        `The agent cannot use the MCP server "${spec.name}": it does not support the transport "${spec.transport}" over ACP. Use a stdio server, or omit it.`,
      );
    return { type: spec.transport, name: spec.name, url: spec.url, headers: pairs(spec.headers) };
  });
}

const pairs = (record: Record<string, string> = {}) => Object.entries(record).map(([name, value]) => ({ name, value }));
