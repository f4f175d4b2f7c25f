import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { readFileInside } from "@hak2i/nofollow-fs";

/**
 * Finds a file in the workspace or a parent directory from which OpenCode would load code; null if there is none. OpenCode has a second
 * plugin loader, which ignores the variables that disable project configuration. Files in the operator's home directory are accepted.
 */
export function findWorkspaceCode(cwd: string, operatorHome: string | undefined): string | null {
  const found = cwd === operatorHome ? undefined : (findPlugin(cwd) ?? findConfiguration(cwd));
  if (found !== undefined) return found;
  const parent = path.dirname(cwd);
  return parent === cwd ? null : findWorkspaceCode(parent, operatorHome);
}

/** Finds the root of the git repository that contains a directory. */
export function findRepository(directory: string): string | null {
  if (existsSync(path.join(directory, ".git"))) return directory;
  const parent = path.dirname(directory);
  return parent === directory ? null : findRepository(parent);
}

function findPlugin(directory: string): string | undefined {
  for (const name of ["plugin", "plugins"]) {
    const plugins = path.join(directory, ".opencode", name);
    const file = listEntries(plugins).find((entry) => /\.[jt]s$/.test(entry));
    if (file !== undefined) return path.join(plugins, file);
  }
  return undefined;
}

/** Larger files count as code. */
const MAX_CONFIGURATION_BYTES = 1024 ** 2;

/**
 * Finds a configuration file that may name plugins or repositories. A file with Unicode escapes also counts, because they could hide such
 * names.
 */
function findConfiguration(directory: string): string | undefined {
  return ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"]
    .map((name) => path.join(directory, name))
    .find(mayNameCode);
}

function listEntries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Checks the content of a file; a file that cannot be read counts as a match. Does not open devices or wait for pipes. */
function mayNameCode(file: string): boolean {
  try {
    const reading = readFileInside("/", file, MAX_CONFIGURATION_BYTES);
    if ("fault" in reading) return reading.fault !== "missing";
    return /plugin|reference|\\u/i.test(reading.content.toString("utf8"));
  } catch {
    return false;
  }
}
