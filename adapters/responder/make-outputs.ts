import { makeDirectoryInside, NotADirectory } from "@hak2i/nofollow-fs";

/** Makes a directory in a workspace without following links that a task has left; returns the reason why it cannot, or null. */
export async function makeOutputs(workspace: string, directory: string): Promise<string | null> {
  try {
    using _ = await makeDirectoryInside(workspace, directory.split("/"), { mode: 0o777 });
    return null;
  } catch (error) {
    if (error instanceof NotADirectory) return `Cannot write to ${directory}: ${error.entry} is not a directory.`;
    return `Cannot write to ${directory}: ${(error as NodeJS.ErrnoException).code}.`;
  }
}
