import path from "node:path";
import { makePrivateDirectory, writeFileInside } from "@hak2i/nofollow-fs";
import type { ExecutionRequest } from "#contract";
import { formatMcpConfig } from "./mcp-config.ts";
import { selectServers } from "./permissions.ts";

/** Files for data that must not be an argument: other users of the host can read arguments, and an argument is limited to 128 KiB. */
export interface TaskFiles {
  systemPrompt: string;
  mcpConfig: string;
}

/** Returns the paths of a task's files. */
export const locateTaskFiles = (tmp: string): TaskFiles => ({
  systemPrompt: path.join(tmp, SYSTEM_PROMPT),
  mcpConfig: path.join(tmp, MCP_CONFIG),
});

const SYSTEM_PROMPT = "system-prompt.md";
const MCP_CONFIG = "mcp.json";

/** Writes the files of a task. Only Bridge's user can read them. */
export async function writeFiles(request: ExecutionRequest): Promise<TaskFiles> {
  const { systemPrompt, directories } = request;
  const { tmp } = directories;
  const servers = selectServers(request);
  makePrivateDirectory(tmp);
  if (systemPrompt !== undefined) await writeFileInside(tmp, SYSTEM_PROMPT, systemPrompt, { obstacles: "remove" });
  if (servers.length > 0) await writeFileInside(tmp, MCP_CONFIG, formatMcpConfig(servers), { obstacles: "remove" });
  return locateTaskFiles(tmp);
}

/** Creates the flags of Claude Code that all connections use. Null means a flag without a value. */
export function createCommonFlags(request: ExecutionRequest, files: TaskFiles): Record<string, string | null> {
  return {
    // Restricts the file tools to the directory of the task, even through links, and ignores settings files.
    restricted: null,
    // Uses the system prompt of this dispatch, not the one that the session started with.
    "system-prompt-snapshot": "off",
    ...(selectServers(request).length === 0 ? {} : { "mcp-config": files.mcpConfig }),
  };
}
