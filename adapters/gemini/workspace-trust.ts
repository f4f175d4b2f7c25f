import { existsSync } from "node:fs";
import path from "node:path";
import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { readOwnFile } from "./credentials.ts";

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
export function findObeyedFile(cwd: string, { settings, env }: Pick<ProgramContext, "settings" | "env">): string | null {
  const home = env["HOME"];
  // Our own settings turn the second one off.
  const names = settings.home === "user" && !ignoresPlainFiles(home) ? [".gemini/.env", ".env"] : [".gemini/.env"];
  return findAbove(cwd, names, home);
}

function findAbove(directory: string, names: readonly string[], operatorHome: string | undefined): string | null {
  const found = names.map((name) => path.join(directory, name)).find((file) => existsSync(file));
  if (found !== undefined && directory !== operatorHome) return found;
  const above = path.dirname(directory);
  return above === directory ? null : findAbove(above, names, operatorHome);
}

/** Do the operator's settings keep the program from every `.env` but their own? */
function ignoresPlainFiles(home = "/"): boolean {
  return /"ignoreLocalEnv"\s*:\s*true/.test(readOwnFile(home, "settings.json"));
}
