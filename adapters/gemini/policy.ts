import type { ExecutionRequest } from "#contract";
import { needsApproval } from "../shared/agent-program/decide-approval.ts";

/** The built-in agents of Gemini. */
export const HELPER_AGENTS = ["generalist", "codebase_investigator", "cli_help"];

/** Read-only tools. They include the helper agents, because the policy also applies to the tools of these agents. */
const READ_ONLY_TOOLS = [
  "list_directory",
  "read_file",
  "read_many_files",
  "grep_search",
  "glob",
  "google_web_search",
  "get_internal_docs",
  "update_topic",
  "complete_task",
  "invoke_agent",
  ...HELPER_AGENTS,
  "list_mcp_resources",
  "read_mcp_resource",
];
/** Tools that a task with the profile `modify` may call without an approval: they change files of the workspace, or read web pages. */
const TOOLS_WITHOUT_APPROVAL = ["write_file", "replace", "write_todos", "web_fetch"];

interface Rule {
  tools: readonly string[];
  decision: "allow" | "deny" | "ask_user";
  priority: number;
  /** Additional TOML lines of the rule. */
  conditions?: readonly string[];
}

const ALLOW_ALL: Rule = { tools: ["*"], decision: "allow", priority: 900, conditions: ["allowRedirection = true"] };
const DENY_OTHERS: Rule = { tools: ["*"], decision: "deny", priority: 100 };
const ASK_OTHERS: Rule = { ...DENY_OTHERS, decision: "ask_user" };
/** Gemini sends no permission request for tools of its helper agents and would wait forever for an answer. */
const DENY_HELPER_AGENTS: readonly Rule[] = HELPER_AGENTS.map((name) => ({
  ...DENY_OTHERS,
  priority: 150,
  conditions: [`subagent = ${JSON.stringify(name)}`],
}));
const ALLOW_READS: Rule = { tools: READ_ONLY_TOOLS, decision: "allow", priority: 200 };
const ALLOW_WITHOUT_APPROVAL: Rule = { tools: TOOLS_WITHOUT_APPROVAL, decision: "allow", priority: 200 };
const ALLOW_MCP: Rule = { tools: ["*"], decision: "allow", priority: 200, conditions: ['mcpName = "*"'] };
const ALLOW_READ_ONLY_MCP: Rule = {
  ...ALLOW_MCP,
  conditions: [...(ALLOW_MCP.conditions ?? []), "toolAnnotations = { readOnlyHint = true }"],
};

/**
 * Builds the policy of a task. It overrides the operator's rules, the workspace and the approval mode. With the profile `modify` all tools
 * of the dispatch's MCP servers are allowed; with `inspect` only tools that are annotated as read-only.
 */
export function createPolicy(request: Pick<ExecutionRequest, "profile" | "approvals">): string {
  const { profile, approvals } = request;
  const otherRules = needsApproval(request) ? [ASK_OTHERS, ...DENY_HELPER_AGENTS] : [DENY_OTHERS];
  if (profile === "inspect") return [DENY_OTHERS, ALLOW_READS, ALLOW_READ_ONLY_MCP].map(toToml).join("\n");
  if (approvals === "allow") return toToml(ALLOW_ALL);
  return [
    ...[...otherRules, ALLOW_READS, ALLOW_WITHOUT_APPROVAL, ALLOW_MCP].map(toToml),
    ...["write_file", "replace"].map(createWorkspaceChecker),
  ].join("\n");
}

function toToml({ tools, decision, priority, conditions = [] }: Rule): string {
  return ["[[rule]]", `toolName = ${JSON.stringify(tools)}`, `decision = "${decision}"`, `priority = ${priority}`, ...conditions, ""].join(
    "\n",
  );
}

/** Enables Gemini's built-in check that a path is inside the workspace. */
function createWorkspaceChecker(tool: string): string {
  return [
    "[[safety_checker]]",
    `toolName = "${tool}"`,
    "priority = 200",
    "[safety_checker.checker]",
    'type = "in-process"',
    'name = "allowed-path"',
    'required_context = ["environment"]',
    "",
  ].join("\n");
}
