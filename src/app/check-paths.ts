import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { type Catalog, findEntry } from "#contract";
import type { Config } from "../config/config.ts";

/**
 * Returns why Bridge could not use the directories that the settings name: each must be a directory in which it can write, or one that it
 * can create. Changes nothing.
 */
export function findPathFaults({ dataDir, filesDir, workspacesDir, databaseFile, databaseUrl }: Config): string[] {
  const directories: Record<string, string> = {
    BRIDGE_DATA_DIR: dataDir,
    BRIDGE_FILES_DIR: filesDir,
    BRIDGE_WORKSPACES_DIR: workspacesDir,
    ...(databaseUrl === null && { BRIDGE_DATABASE_URL: path.dirname(databaseFile) }),
  };
  // Directories are in each other by default, so one fault is reported once, with the first setting.
  const faults = new Map<string, string>();
  for (const [setting, directory] of Object.entries(directories)) {
    const existing = findExisting(directory);
    const fault = describeFault(existing, directory);
    if (fault !== null && !faults.has(existing)) faults.set(existing, `${setting}: ${fault}`);
  }
  return [...faults.values()];
}

/** Returns why Bridge cannot use or create a directory, by the part of its path that exists; null if it can. */
function describeFault(existing: string, directory: string): string | null {
  if (!statSync(existing).isDirectory()) return `${existing} must be a directory, and is a file. Move it, or set another directory.`;
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    return null;
  } catch {
    const action = existing === directory ? "write" : `create ${directory}`;
    return `Bridge cannot ${action} in ${existing}. Change its owner or its permissions, or set another directory.`;
  }
}

/** Returns the path, or the nearest directory above it that exists. */
function findExisting(place: string): string {
  let at = place;
  while (!exists(at) && at !== path.dirname(at)) at = path.dirname(at);
  return at;
}

/** Whether there is something at a path. Below a file, and in a directory that cannot be searched, there is nothing. */
function exists(place: string): boolean {
  try {
    return statSync(place, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Returns a warning for each program in the settings of the enabled adapters that is neither a file nor on PATH. */
export function findMissingPrograms(
  { adapters, adapterSettings }: Pick<Config, "adapters" | "adapterSettings">,
  { catalog, pathVariable }: { catalog: Catalog; pathVariable: string },
): string[] {
  return [...new Set(adapters)].flatMap((provider) => {
    return Object.entries(findEntry(catalog, provider)?.settings ?? {}).flatMap(([key, { variable }]) => {
      const value = adapterSettings[provider]?.[key];
      const [program] = Array.isArray(value) ? (value as unknown[]) : [value];
      if (!variable.endsWith("COMMAND") || typeof program !== "string" || isProgram(program, pathVariable)) return [];
      const place = program.includes(path.sep) ? "is no executable file" : "is not on PATH";
      return [
        `${variable}: the program "${program}" ${place}. Install it, or set its path. The adapter ${provider} is offline until then.`,
      ];
    });
  });
}

/** Looks up a name on PATH, and a path from the working directory. */
function isProgram(program: string, pathVariable: string): boolean {
  const directories = program.includes(path.sep) ? [""] : pathVariable.split(path.delimiter).filter((directory) => directory !== "");
  return directories.some((directory) => {
    const file = path.resolve(directory, program);
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}
