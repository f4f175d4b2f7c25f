import type { ExecutionRequest } from "#contract";
import { nameMcpServers } from "../shared/agent-program/mcp-server-names.ts";
import { isToolServer } from "../shared/declared-tools/tool-server-spec.ts";

/** The MCP servers of a task in the form that Codex expects. `env` holds their secrets under generated names. */
export interface CodexMcpServers {
  config: Record<string, unknown>;
  env: Record<string, string>;
}

/** Prefix of variables that hold secrets of MCP servers. Commands do not receive these variables. */
export const SECRET_PREFIX = "BRIDGE_MCP_";

/** Finds the name of an MCP server that did not start, in a log line of Codex. */
export const FAILED_SERVER = /MCP server startup failed server_name="([^"]+)"/;

/** Variables by which Bridge finds an MCP server that outlives its task. Codex passes only listed variables to a server. */
const MARKER_VARIABLES = ["BRIDGE_TASK_ID", "TMPDIR"];

/**
 * Configures the MCP servers of a task. With the profile `modify` their tools need no approval, because the dispatch names the servers.
 * With `inspect`, only the declared tools, which the caller runs, and tools that are annotated as read-only may run.
 */
export function configureMcpServers({ mcpServers = [], profile }: Pick<ExecutionRequest, "mcpServers" | "profile">): CodexMcpServers {
  const env: Record<string, string> = {};
  const storeSecret = (secret: string): string => {
    const name = `${SECRET_PREFIX}${Object.keys(env).length}`;
    env[name] = secret;
    return name;
  };
  const common = { default_tools_approval_mode: profile === "modify" ? "approve" : "auto" };
  const declared = { default_tools_approval_mode: "approve", supports_parallel_tool_calls: true };
  const names = nameMcpServers(mcpServers);
  const entries = mcpServers.map((server, index) => {
    const name = names[index];
    if (server.transport !== "stdio") {
      const headers = Object.entries(server.headers ?? {}).map(([header, value]) => [header, storeSecret(value)]);
      const permissions = isToolServer(server) ? declared : common;
      return [name, { ...permissions, url: server.url, ...(headers.length > 0 && { env_http_headers: Object.fromEntries(headers) }) }];
    }
    const { command, args = [] } = server;
    const variables = Object.entries(server.env ?? {}).map(([variable, value]) => ({ variable, stored: storeSecret(value) }));
    if (variables.length === 0) return [name, { ...common, command, args, env_vars: MARKER_VARIABLES }];
    // Codex cannot rename variables, and values in its configuration would be part of an argument list.
    const script = `${variables.map(({ variable, stored }) => `export ${variable}="$${stored}"; unset ${stored}; `).join("")}exec "$@"`;
    const env_vars = [...MARKER_VARIABLES, ...variables.map(({ stored }) => stored)];
    return [name, { ...common, command: "/bin/sh", args: ["-c", script, "sh", command, ...args], env_vars }];
  });
  return { config: Object.fromEntries(entries), env };
}

/** Returns why Codex cannot use the MCP servers of a task; null if it can. */
export function explainUnsupportedServer({ mcpServers = [] }: Pick<ExecutionRequest, "mcpServers">): string | null {
  for (const server of mcpServers) {
    if (server.transport === "sse") return `The MCP server "${server.name}" uses the transport sse, which Codex does not support.`;
    const variables = server.transport === "stdio" ? Object.keys(server.env ?? {}) : [];
    const invalidName = variables.find((variable) => !/^[A-Za-z_]\w*$/.test(variable));
    if (invalidName !== undefined)
      return `The MCP server "${server.name}" has the environment variable "${invalidName}", which Codex cannot set. Use only letters, digits and _.`;
  }
  return null;
}
