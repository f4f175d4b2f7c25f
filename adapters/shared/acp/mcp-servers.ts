import type { McpCapabilities, McpServer } from "@agentclientprotocol/sdk";
import type { McpServerSpec } from "#contract";
import type { OfferedTools } from "../declared-tools/offered-tools.ts";
import { AcpFailure } from "./acp-failure.ts";

/** The MCP servers of a task as the protocol writes them; throws when the agent cannot use one, before anything is spent. */
export function mcpServersFor(
  specs: readonly McpServerSpec[],
  capabilities: McpCapabilities | undefined,
  offeredTools?: OfferedTools,
): McpServer[] {
  return specs.map((given) => {
    // Every agent can start a server.
    const spec = given === offeredTools?.http && capabilities?.http !== true ? offeredTools.stdio : given;
    if (spec.transport === "stdio") return { name: spec.name, command: spec.command, args: spec.args ?? [], env: pairs(spec.env) };
    if (capabilities?.[spec.transport] !== true)
      throw new AcpFailure(
        "adapter_error",
        `This agent cannot reach the MCP server "${spec.name}": it does not support the transport ${spec.transport} over ACP.`,
      );
    return { type: spec.transport, name: spec.name, url: spec.url, headers: pairs(spec.headers) };
  });
}

const pairs = (record: Record<string, string> = {}) => Object.entries(record).map(([name, value]) => ({ name, value }));
