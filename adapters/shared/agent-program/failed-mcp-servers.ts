import { stripVTControlCharacters } from "node:util";
import type { ExecutionRequest } from "#contract";
import { nameMcpServers } from "./mcp-server-names.ts";
import type { TaskTimeline } from "./task-timeline.ts";

/** Describes MCP servers that did not start, as the data of a progress event. The task continues without them. */
export const describeFailedServers = (failedMcpServers: readonly string[]): Record<string, unknown> => ({
  failedMcpServers,
  warning: `The task runs without these MCP servers, because they did not start: ${failedMcpServers.join(", ")}.`,
});

/** Creates a reader for the stderr of a program. `pattern` finds the name of an MCP server that did not start; each is reported once. */
export function createFailedServerReader(
  pattern: RegExp,
  { request, timeline }: { request: Pick<ExecutionRequest, "mcpServers">; timeline: Pick<TaskTimeline, "reportProgress"> },
): (line: string) => void {
  const unreported = new Set(nameMcpServers(request.mcpServers ?? []));
  return (line) => {
    if (unreported.size === 0) return;
    const name = pattern.exec(stripVTControlCharacters(line))?.[1] ?? "";
    if (unreported.delete(name)) timeline.reportProgress(describeFailedServers([name]));
  };
}
