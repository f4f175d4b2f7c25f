import type { McpServerSpec } from "#contract";
import type { TaskRequest } from "../../task.ts";

/** Replaces a secret. */
export const MASK = "***";

/** A request without its secrets, and the paths of the values that were replaced. */
export interface MaskedRequest {
  request: TaskRequest;
  masked: string[];
}

/**
 * Replaces the values of a request that can be secrets: arguments, environment variables and headers of MCP servers, and the user info,
 * query and fragment of their URLs.
 */
export function maskSecrets(request: TaskRequest): MaskedRequest {
  if (request.mcpServers === undefined) return { request, masked: [] };
  const masked: string[] = [];
  const mcpServers = request.mcpServers.map((server, index) =>
    maskServer(server, (path) => void masked.push(`mcpServers.${index}.${path}`)),
  );
  return { request: { ...request, mcpServers }, masked };
}

function maskServer(server: McpServerSpec, report: (path: string) => void): McpServerSpec {
  function maskValues(field: string, values: Record<string, string>): Record<string, string> {
    for (const name of Object.keys(values)) report(`${field}.${name}`);
    return Object.fromEntries(Object.keys(values).map((name) => [name, MASK]));
  }
  if (server.transport === "stdio") {
    const { args, env } = server;
    for (const index of (args ?? []).keys()) report(`args.${index}`);
    return {
      ...server,
      ...(args !== undefined && { args: args.map(() => MASK) }),
      ...(env !== undefined && { env: maskValues("env", env) }),
    };
  }
  const url = maskUrl(server.url);
  if (url !== server.url) report("url");
  return { ...server, url, ...(server.headers !== undefined && { headers: maskValues("headers", server.headers) }) };
}

function maskUrl(text: string): string {
  const url = new URL(text);
  if (url.username + url.password + url.search + url.hash === "") return text;
  if (url.username !== "") url.username = MASK;
  if (url.password !== "") url.password = MASK;
  if (url.search !== "") url.search = MASK;
  if (url.hash !== "") url.hash = MASK;
  return url.href;
}
