import { existsSync } from "node:fs";
import path from "node:path";
import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../program/agent-program.ts";

/**
 * Must the program trust the workspace? It starts without: then no settings, hooks, MCP servers, agents or `.env` files that lie there
 * count. `--skip-trust` gives the trust once the settings are read, for what works only with it: git commands, MCP servers, and the modes
 * beyond `default`. What inspects with nothing of that stays without, unless the settings are the operator's and would refuse to.
 */
export function needsTrust(
  { profile, mcpServers = [] }: Pick<ExecutionRequest, "profile" | "mcpServers">,
  { settings }: ProgramContext,
): boolean {
  return profile === "modify" || mcpServers.length > 0 || settings.home === "user";
}

/**
 * The file of variables that a program which trusts the workspace would obey, from the workspace or a directory above; it could send the
 * operator's key elsewhere. The operator's own counts as wanted.
 */
export function findObeyedFile(cwd: string, operatorHome: string | undefined): string | null {
  const file = path.join(cwd, ".gemini", ".env");
  if (existsSync(file) && cwd !== operatorHome) return file;
  const above = path.dirname(cwd);
  return above === cwd ? null : findObeyedFile(above, operatorHome);
}
