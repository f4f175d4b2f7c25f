import { lstat, mkdir } from "node:fs/promises";
import path from "node:path";

/** Makes a directory of a workspace, step by step, for a task may have put a link in its place; answers what stands in the way, or null. */
export async function makeOutputs(workspace: string, directory: string): Promise<string | null> {
  let at = workspace;
  for (const part of directory.split("/")) {
    at = path.join(at, part);
    try {
      await mkdir(at).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
      if (!(await lstat(at)).isDirectory()) return `Nothing can be written to ${directory}: ${part} is no directory.`;
    } catch (error) {
      return `Nothing can be written to ${directory}: ${(error as NodeJS.ErrnoException).code}.`;
    }
  }
  return null;
}
