import type { McpServerSpec } from "#contract";
import { mcpServerNames } from "../agent-program/mcp-server-names.ts";

/** Claude Code puts variables of its environment into a server's values: this one keeps a `$` what it is. */
export const dollarVariable = { BRIDGE_DOLLAR: "$" } as const;

/** Servers of these names Claude Code takes for parts of its own, and leaves out without a word. */
const reservedNames = ["ide", "workspace", "claude-in-chrome", "computer-use"];

/** The names that Claude Code knows the servers by, in their order. */
export const serverNames = (servers: readonly McpServerSpec[]): string[] => mcpServerNames(servers, reservedNames);

/** The file of the MCP servers. */
export function mcpConfig(servers: readonly McpServerSpec[]): string {
  const names = serverNames(servers);
  const entries = servers.map(({ name: _, transport, ...spec }, index) => [
    names[index],
    { type: transport, ...(literal(spec) as object) },
  ]);
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

function literal(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(/\$(?=\{)/g, "$${BRIDGE_DOLLAR}");
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literal(inner)]));
}
