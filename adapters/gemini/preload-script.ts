/**
 * Code that Node.js runs before Gemini CLI. It does not apply to programs that Gemini starts.
 *
 * - It makes writes to stdout blocking. Otherwise Gemini exits without waiting for a slow reader, and unread output, such as the result, is
 *   lost.
 * - It hides GEMINI.md of the workspace and of its parent directories from the search for instructions, because an earlier task may have
 *   written it. No setting disables the search in a trusted workspace. File tools still find the file.
 * - It prints to stderr why an MCP server did not start, which Gemini writes only to its debug log. The log itself goes nowhere.
 */
export const preloadScript = `
  import fs, { promises } from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  import os from "node:os";
  import path from "node:path";
  process.stdout._handle?.setBlocking?.(true);
  delete process.env.NODE_OPTIONS;
  const { createWriteStream } = fs;
  const print = process.stderr.write.bind(process.stderr);
  const debugLog = { on: () => debugLog, end: () => {}, write: (line) => line.includes("[MCP error]") && print(line) };
  fs.createWriteStream = (file, ...more) => (file === "/dev/null" ? debugLog : createWriteStream(file, ...more));
  const own = path.join(process.env.GEMINI_CLI_HOME || os.homedir(), ".gemini", "GEMINI.md");
  const { access } = promises;
  promises.access = async (file, ...more) => {
    if (path.basename(String(file)) === "GEMINI.md" && file !== own) throw Object.assign(new Error("hidden"), { code: "ENOENT" });
    return await access(file, ...more);
  };
  syncBuiltinESMExports();
`;
