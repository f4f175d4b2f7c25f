import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ExecutionRequest } from "#contract";
import { mcpConfig, type TaskFiles } from "./arguments.ts";

/** Where a task's files lie. */
export const filesIn = (tmp: string): TaskFiles => ({
  systemPrompt: path.join(tmp, "system-prompt.md"),
  mcpConfig: path.join(tmp, "mcp.json"),
});

/** Writes the files of a task, for nobody else to read. */
export async function writeFiles({ systemPrompt, mcpServers = [], directories }: ExecutionRequest): Promise<TaskFiles> {
  const files = filesIn(directories.tmp);
  await mkdir(directories.tmp, { recursive: true, mode: 0o700 });
  if (systemPrompt !== undefined) await writeFile(files.systemPrompt, systemPrompt, { mode: 0o600 });
  if (mcpServers.length > 0) await writeFile(files.mcpConfig, mcpConfig(mcpServers), { mode: 0o600 });
  return files;
}
