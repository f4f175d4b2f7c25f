import type { ExecutionRequest, McpServerSpec } from "#contract";
import { isToolServer } from "../declared-tools/tool-server-spec.ts";
import { serverNames } from "./mcp-config.ts";

const READ_TOOLS = ["Glob", "Grep", "Read"];
const WRITE_TOOLS = ["Agent", "Bash", "Edit", "NotebookEdit", "WebFetch", "WebSearch", "Write"];
/** Tools that need an approval, unless `approvals` is "allow". */
const APPROVAL_TOOLS = ["Bash", "WebFetch", "WebSearch"];

type TaskPermissions = Pick<ExecutionRequest, "profile" | "approvals" | "mcpServers">;

/** The built-in tools of a task. With the profile `inspect`, only tools that read. */
export const toolsFor = ({ profile }: TaskPermissions): string[] =>
  profile === "inspect" ? READ_TOOLS : [...WRITE_TOOLS, ...READ_TOOLS].sort();

/**
 * The MCP servers of a task. With the profile `inspect`, only the server of the declared tools, which the caller
 * executes. The start or a tool of any other server could change something.
 */
export const serversFor = ({ profile, mcpServers = [] }: TaskPermissions): readonly McpServerSpec[] =>
  profile === "inspect" ? mcpServers.filter(isToolServer) : mcpServers;

/** The tools that need no approval, including those of the MCP servers. */
export function allowedTools(task: TaskPermissions): string[] {
  const { profile, approvals } = task;
  const servers = serverNames(serversFor(task)).map((name) => `mcp__${name}`);
  return [...(profile === "modify" && approvals === "allow" ? APPROVAL_TOOLS : []), ...servers];
}

/**
 * Settings of a task. The permission mode `acceptEdits` allows the file tools to edit the workspace, but also commands
 * that Claude Code classifies as edits (`touch`, `rm`, `sed -i`, redirections) or as harmless. An `ask` rule takes
 * precedence over the mode.
 */
export const settingsFor = ({ profile, approvals }: TaskPermissions) => ({
  permissions: { ask: profile === "modify" && approvals !== "allow" ? APPROVAL_TOOLS : [] },
});
