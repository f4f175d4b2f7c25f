/**
 * Code that Node.js runs before Gemini CLI. It does not apply to programs that Gemini starts.
 *
 * - It makes writes to stdout blocking. Otherwise Gemini exits without waiting for a slow reader, and unread output, such as the result, is
 *   lost.
 * - It hides GEMINI.md of the workspace and of its parent directories from the search for instructions, because an earlier task may have
 *   written it. No setting disables the search in a trusted workspace. File tools still find the file.
 */
export const preloadScript = `
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
