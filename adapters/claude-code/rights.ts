import type { ExecutionRequest } from "#contract";
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
 * nobody can tell what a server's tools do.
 */
export function allowedTools({ profile, approvals, mcpServers = [] }: Rights): string[] {
  if (profile === "inspect") return [];
  return [...(approvals === "allow" ? askingTools : []), ...serverNames(mcpServers).map((name) => `mcp__${name}`)];
}
