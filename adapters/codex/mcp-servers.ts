import type { ExecutionRequest } from "#contract";
import { mcpServerNames } from "../shared/agent-program/mcp-server-names.ts";
import { isToolServer } from "../shared/declared-tools/tool-server-spec.ts";

/** The MCP servers of a task as Codex wants them: `env` holds their secrets, under names of Bridge's own. */
export interface CodexMcpServers {
  config: Record<string, unknown>;
  env: Record<string, string>;
}

/** Begins the names of variables that hold secrets of MCP servers: commands do not get to see these. */
export const secretPrefix = "BRIDGE_MCP_";

/** What an MCP server needs to be found should it outlive its task: Codex hands on only what is named. */
const marks = ["BRIDGE_TASK_ID", "TMPDIR"];

/**
 * Configures the MCP servers of a task. Whoever names a server in a dispatch wants it used, so nothing is asked under `modify`;
 * under `inspect` only tools that call themselves read-only are used, and the declared tools, which the caller runs.
 */
export function mcpServersOf({ mcpServers = [], profile }: Pick<ExecutionRequest, "mcpServers" | "profile">): CodexMcpServers {
  const env: Record<string, string> = {};
  const keep = (secret: string): string => {
    const name = `${secretPrefix}${Object.keys(env).length}`;
    env[name] = secret;
    return name;
  };
  const common = { default_tools_approval_mode: profile === "modify" ? "approve" : "auto" };
  const declared = { default_tools_approval_mode: "approve", supports_parallel_tool_calls: true };
  const names = mcpServerNames(mcpServers);
  const entries = mcpServers.map((server, index) => {
    const name = names[index];
    if (server.transport !== "stdio") {
      const headers = Object.entries(server.headers ?? {}).map(([header, value]) => [header, keep(value)]);
      const rights = isToolServer(server) ? declared : common;
      return [name, { ...rights, url: server.url, ...(headers.length > 0 && { env_http_headers: Object.fromEntries(headers) }) }];
    }
    const { command, args = [] } = server;
    const variables = Object.entries(server.env ?? {}).map(([variable, value]) => ({ variable, kept: keep(value) }));
    if (variables.length === 0) return [name, { ...common, command, args, env_vars: marks }];
    // Codex hands variables on under their own names only, and in its configuration their values would stand in an argument list.
    const script = `${variables.map(({ variable, kept }) => `export ${variable}="$${kept}"; unset ${kept}; `).join("")}exec "$@"`;
    const env_vars = [...marks, ...variables.map(({ kept }) => kept)];
    return [name, { ...common, command: "/bin/sh", args: ["-c", script, "sh", command, ...args], env_vars }];
  });
  return { config: Object.fromEntries(entries), env };
}

/** Why Codex cannot use the MCP servers of a task; null when it can. */
export function mcpObstacle({ mcpServers = [] }: Pick<ExecutionRequest, "mcpServers">): string | null {
  for (const server of mcpServers) {
    if (server.transport === "sse") return `Codex cannot reach the MCP server "${server.name}": it does not support the transport sse.`;
    const variables = server.transport === "stdio" ? Object.keys(server.env ?? {}) : [];
    const bad = variables.find((variable) => !/^[A-Za-z_]\w*$/.test(variable));
    if (bad !== undefined)
      return `The MCP server "${server.name}" cannot get the environment variable "${bad}" from Codex: use letters, digits and _.`;
  }
  return null;
}
