import type { ExecutionRequest, McpServerSpec } from "#contract";
import { isToolServer } from "../declared-tools/tool-server-spec.ts";
import { serverNames } from "./mcp-config.ts";

const readingTools = ["Glob", "Grep", "Read"];
const changingTools = ["Agent", "Bash", "Edit", "NotebookEdit", "WebFetch", "WebSearch", "Write"];
/** Of these Claude Code asks before it uses them, each time or for most uses. */
const askingTools = ["Bash", "WebFetch", "WebSearch"];

type Rights = Pick<ExecutionRequest, "profile" | "approvals" | "mcpServers">;

/** The built-in tools that exist in a task. To inspect there are none that could change anything. */
export const toolsFor = ({ profile }: Rights): string[] =>
  profile === "inspect" ? readingTools : [...changingTools, ...readingTools].sort();

/**
 * The tools that are used without asking. Whoever names an MCP server in a dispatch wants it used, unless nothing may change:
 * nobody can tell what a server's tools do. The declared tools of the dispatch change nothing here.
 */
export function allowedTools({ profile, approvals, mcpServers = [] }: Rights): string[] {
  const names = serverNames(mcpServers);
  const usable = names.filter((_, index) => profile === "modify" || isToolServer(mcpServers[index] as McpServerSpec));
  return [...(profile === "modify" && approvals === "allow" ? askingTools : []), ...usable.map((name) => `mcp__${name}`)];
}
