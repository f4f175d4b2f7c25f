/**
 * The code that Gemini CLI runs before its own; programs that it starts get no part of this.
 *
 * - Stdout blocks: the program exits without waiting for a reader that is slower than it writes, and what has not been read is lost, the result first of all.
 * - GEMINI.md of the workspace, and of directories above it, is hidden from the search for instructions: an earlier task may have left one there, and no
 *   setting turns the search off in a workspace that is trusted. The file tools find the file all the same.
 */
export const preloadedCode = `
  import { promises } from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  import os from "node:os";
  import path from "node:path";
  process.stdout._handle?.setBlocking?.(true);
  delete process.env.NODE_OPTIONS;
  const own = path.join(process.env.GEMINI_CLI_HOME || os.homedir(), ".gemini", "GEMINI.md");
  const { access } = promises;
  promises.access = async (file, ...more) => {
    if (path.basename(String(file)) === "GEMINI.md" && file !== own) throw Object.assign(new Error("hidden"), { code: "ENOENT" });
    return await access(file, ...more);
  };
  syncBuiltinESMExports();
`;
