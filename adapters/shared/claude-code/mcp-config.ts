import type { McpServerSpec } from "#contract";
import { nameMcpServers } from "../agent-program/mcp-server-names.ts";

/** Claude Code expands `${NAME}` in the configuration of a server. This variable escapes a literal `$`. */
export const DOLLAR_VARIABLE = { BRIDGE_DOLLAR: "$" } as const;

/** Claude Code ignores servers with these names without a warning. */
const RESERVED_NAMES = ["ide", "workspace", "claude-in-chrome", "computer-use"];

/** Returns the names of the servers in Claude Code, in the order of the servers. */
export const nameServers = (servers: readonly McpServerSpec[]): string[] => nameMcpServers(servers, RESERVED_NAMES);

/** Formats the content of the MCP configuration file. */
export function formatMcpConfig(servers: readonly McpServerSpec[]): string {
  const names = nameServers(servers);
  const entries = servers.map(({ name: _, transport, ...spec }, index) => [
    names[index],
    { type: transport, ...(escapeVariables(spec) as object) },
  ]);
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

/** Escapes `${` in all strings of a value. */
function escapeVariables(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(/\$(?=\{)/g, "$${BRIDGE_DOLLAR}");
  if (Array.isArray(value)) return value.map(escapeVariables);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escapeVariables(inner)]));
}
