import type { ExecutionRequest, McpServerSpec } from "#contract";
import { isToolServer } from "../declared-tools/tool-server-spec.ts";
import { serverNames } from "./mcp-config.ts";

const readingTools = ["Glob", "Grep", "Read"];
const changingTools = ["Agent", "Bash", "Edit", "NotebookEdit", "WebFetch", "WebSearch", "Write"];
/** The tools that a task uses unasked only with `approvals: "allow"`. */
const askingTools = ["Bash", "WebFetch", "WebSearch"];

type Rights = Pick<ExecutionRequest, "profile" | "approvals" | "mcpServers">;

/** The built-in tools that exist in a task. To inspect there are none that could change anything. */
export const toolsFor = ({ profile }: Rights): string[] =>
  profile === "inspect" ? readingTools : [...changingTools, ...readingTools].sort();

/**
 * The MCP servers that a task has. To inspect there is only the one of the declared tools, which the caller works: of any other, neither its start nor
 * its tools are known to change nothing.
 */
export const serversFor = ({ profile, mcpServers = [] }: Rights): readonly McpServerSpec[] =>
  profile === "inspect" ? mcpServers.filter(isToolServer) : mcpServers;

/** The tools that are used without asking, those of the MCP servers included. */
export function allowedTools(rights: Rights): string[] {
  const { profile, approvals } = rights;
  const servers = serverNames(serversFor(rights)).map((name) => `mcp__${name}`);
  return [...(profile === "modify" && approvals === "allow" ? askingTools : []), ...servers];
}

/**
 * Settings of a task. Permission mode `acceptEdits`, which lets the file tools edit the workspace, also lets Claude Code run commands that it
 * takes for edits (`touch`, `rm`, `sed -i`, redirections) or for harmless. A rule to ask precedes the mode and all such judgment.
 */
export const settingsFor = ({ profile, approvals }: Rights) => ({
  permissions: { ask: profile === "modify" && approvals !== "allow" ? askingTools : [] },
});
