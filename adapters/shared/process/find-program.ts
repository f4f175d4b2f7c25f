import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

/**
 * Returns the absolute path of a program. Looks up a name on PATH, and resolves a relative path from the working directory. Returns null
 * if there is no executable file.
 */
export function findProgram(program: string, pathVariable: string): string | null {
  const directories = program.includes(path.sep) ? ["."] : pathVariable.split(path.delimiter).filter((directory) => directory !== "");
  return directories.map((directory) => path.resolve(directory, program)).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
