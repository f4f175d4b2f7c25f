import type { ExecutionRequest, McpServerSpec } from "#contract";
import { isToolServer } from "../declared-tools/tool-server-spec.ts";
import { nameServers } from "./mcp-config.ts";

const READ_TOOLS = ["Glob", "Grep", "Read"];
const WRITE_TOOLS = ["Agent", "Bash", "Edit", "NotebookEdit", "WebFetch", "WebSearch", "Write"];
/** Tools that need an approval, unless `approvals` is "allow". */
const APPROVAL_TOOLS = ["Bash", "WebFetch", "WebSearch"];

type TaskPermissions = Pick<ExecutionRequest, "profile" | "approvals" | "mcpServers">;

/** Selects the built-in tools of a task. With the profile `inspect`, only tools that read. */
export const selectTools = ({ profile }: TaskPermissions): string[] =>
  profile === "inspect" ? READ_TOOLS : [...WRITE_TOOLS, ...READ_TOOLS].sort();

/**
 * Selects the MCP servers of a task. With the profile `inspect`, only the server of the declared tools, which the caller
 * executes. Any other server could change something when it starts or when one of its tools is called.
 */
export const selectServers = ({ profile, mcpServers = [] }: TaskPermissions): readonly McpServerSpec[] =>
  profile === "inspect" ? mcpServers.filter(isToolServer) : mcpServers;

/** Lists the tools that need no approval, including those of the MCP servers. */
export function listAllowedTools(task: TaskPermissions): string[] {
  const { profile, approvals } = task;
  const servers = nameServers(selectServers(task)).map((name) => `mcp__${name}`);
  return [...(profile === "modify" && approvals === "allow" ? APPROVAL_TOOLS : []), ...servers];
}

/**
 * Creates the settings of a task. The permission mode `acceptEdits` allows the file tools to edit the workspace, but also commands
 * that Claude Code classifies as edits (`touch`, `rm`, `sed -i`, redirections) or as harmless. An `ask` rule takes
 * precedence over the mode.
 */
export const createTaskSettings = ({ profile, approvals }: TaskPermissions) => ({
  permissions: { ask: profile === "modify" && approvals !== "allow" ? APPROVAL_TOOLS : [] },
});
