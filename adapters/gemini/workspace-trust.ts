import { existsSync } from "node:fs";
import path from "node:path";
import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { readGeminiFile } from "./credentials.ts";

/**
 * Checks whether Gemini must trust the workspace. Gemini starts without trust and then ignores settings, hooks, MCP servers, agents and
 * `.env` files of the workspace. Git commands, MCP servers and modes other than `default` need trust, which `--skip-trust` grants after the
 * settings are read. A task with the profile `inspect` and no MCP servers needs no trust, unless it uses the operator's settings, which may
 * require it.
 */
export function needsTrust(
  { profile, mcpServers = [] }: Pick<ExecutionRequest, "profile" | "mcpServers">,
  { settings }: ProgramContext,
): boolean {
  return profile === "modify" || mcpServers.length > 0 || settings.home === "user";
}

/**
 * Finds a `.env` file in the workspace or a parent directory that Gemini would load when it trusts the workspace; null if there is none.
 * Its variables could send the operator's key to another server. Files in the operator's home directory are accepted.
 */
export function findLoadedEnvFile(cwd: string, { settings, env }: Pick<ProgramContext, "settings" | "env">): string | null {
  const home = env["HOME"];
  // Bridge's configuration disables plain .env files.
  const names = settings.home === "user" && !ignoresPlainFiles(home) ? [".gemini/.env", ".env"] : [".gemini/.env"];
  return findUpward(cwd, names, home);
}

function findUpward(directory: string, names: readonly string[], operatorHome: string | undefined): string | null {
  const found = names.map((name) => path.join(directory, name)).find((file) => existsSync(file));
  if (found !== undefined && directory !== operatorHome) return found;
  const parent = path.dirname(directory);
  return parent === directory ? null : findUpward(parent, names, operatorHome);
}

/** Checks whether the operator's settings disable plain `.env` files. */
function ignoresPlainFiles(home = "/"): boolean {
  return /"ignoreLocalEnv"\s*:\s*true/.test(readGeminiFile(home, "settings.json"));
}
