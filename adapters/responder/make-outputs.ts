import { makeDirectoryInside, NotADirectory } from "@hak2i/nofollow-fs";

/** Makes a directory of a workspace, where a task may have put a link in its place; returns what stands in the way, or null. */
export async function makeOutputs(workspace: string, directory: string): Promise<string | null> {
  try {
    using _ = await makeDirectoryInside(workspace, directory.split("/"), { mode: 0o777 });
    return null;
  } catch (error) {
    if (error instanceof NotADirectory) return `Nothing can be written to ${directory}: ${error.entry} is no directory.`;
    return `Nothing can be written to ${directory}: ${(error as NodeJS.ErrnoException).code}.`;
  }
}
