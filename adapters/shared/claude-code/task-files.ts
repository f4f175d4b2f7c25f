import path from "node:path";
import { makePrivateDirectory, writeFileInside } from "@hak2i/nofollow-fs";
import type { ExecutionRequest } from "#contract";
import { mcpConfig } from "./mcp-config.ts";
import { serversFor } from "./permissions.ts";

/** Files that hold what an argument list must not: other users of the machine can read it, and one argument ends at 128 KiB. */
export interface TaskFiles {
  systemPrompt: string;
  mcpConfig: string;
}

/** Where a task's files lie. */
export const filesIn = (tmp: string): TaskFiles => ({
  systemPrompt: path.join(tmp, SYSTEM_PROMPT),
  mcpConfig: path.join(tmp, MCP_CONFIG),
});

const SYSTEM_PROMPT = "system-prompt.md";
const MCP_CONFIG = "mcp.json";

/** Writes the files of a task, for nobody else to read. */
export async function writeFiles(request: ExecutionRequest): Promise<TaskFiles> {
  const { systemPrompt, directories } = request;
  const { tmp } = directories;
  const servers = serversFor(request);
  makePrivateDirectory(tmp);
  if (systemPrompt !== undefined) await writeFileInside(tmp, SYSTEM_PROMPT, systemPrompt, { obstacles: "remove" });
  if (servers.length > 0) await writeFileInside(tmp, MCP_CONFIG, mcpConfig(servers), { obstacles: "remove" });
  return filesIn(tmp);
}

/** Flags that any start of the program needs, over whatever connection: a key without a value is a switch. */
export function commonFlags(request: ExecutionRequest, files: TaskFiles): Record<string, string | null> {
  return {
    // The file tools stay inside the task's directory, also by links; settings files and all that comes with them are ignored.
    restricted: null,
    // The system prompt of this dispatch counts, not the one with which the session began.
    "system-prompt-snapshot": "off",
    ...(serversFor(request).length === 0 ? {} : { "mcp-config": files.mcpConfig }),
  };
}
