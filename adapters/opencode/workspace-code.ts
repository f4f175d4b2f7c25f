import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { readFileInside } from "@hak2i/nofollow-fs";

/**
 * A file of the workspace, or of a directory above it, from which OpenCode would load code of its own accord; null when there is none.
 * The switches that turn off a project's configuration do not reach its second loader of plugins. What lies in the operator's own home
 * counts as wanted.
 */
export function findWorkspaceCode(cwd: string, operatorHome: string | undefined): string | null {
  const found = cwd === operatorHome ? undefined : (findPlugin(cwd) ?? findConfiguration(cwd));
  if (found !== undefined) return found;
  const above = path.dirname(cwd);
  return above === cwd ? null : findWorkspaceCode(above, operatorHome);
}

/** The root of the git repository that a directory lies in. */
export function findRepository(directory: string): string | null {
  if (existsSync(path.join(directory, ".git"))) return directory;
  const above = path.dirname(directory);
  return above === directory ? null : findRepository(above);
}

function findPlugin(directory: string): string | undefined {
  for (const name of ["plugin", "plugins"]) {
    const plugins = path.join(directory, ".opencode", name);
    const file = list(plugins).find((entry) => /\.[jt]s$/.test(entry));
    if (file !== undefined) return path.join(plugins, file);
  }
  return undefined;
}

/** No configuration that somebody wrote is larger. */
const MAX_CONFIGURATION_BYTES = 1024 ** 2;

/** A configuration that names plugins, or repositories to fetch. Escapes could hide the words. */
function findConfiguration(directory: string): string | undefined {
  return ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"]
    .map((name) => path.join(directory, name))
    .find(mayNameCode);
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** A file that cannot be read counts as a match. Devices are not opened, and pipes are not waited for. */
function mayNameCode(file: string): boolean {
  try {
    const reading = readFileInside("/", file, MAX_CONFIGURATION_BYTES);
    if ("fault" in reading) return reading.fault !== "missing";
    return /plugin|reference|\\u/i.test(reading.content.toString("utf8"));
  } catch {
    return false;
  }
}
