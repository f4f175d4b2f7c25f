import type { ExecutionRequest } from "#contract";
import { needsApproval } from "../shared/agent-program/decide-approval.ts";

/** The program's own agents. */
export const helperAgents = ["generalist", "codebase_investigator", "cli_help"];

/** Tools that change nothing. Its helper agents are some, because this policy binds their tools too. */
const readingTools = [
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
  ...helperAgents,
  "list_mcp_resources",
  "read_mcp_resource",
];
/** Tools that change files, and only files of the workspace. */
const editingTools = ["write_file", "replace", "write_todos", "web_fetch"];

interface Rule {
  tools: readonly string[];
  decision: "allow" | "deny" | "ask_user";
  priority: number;
  /** Further lines of the rule. */
  conditions?: readonly string[];
}

const everything: Rule = { tools: ["*"], decision: "allow", priority: 900, conditions: ["allowRedirection = true"] };
const nothingElse: Rule = { tools: ["*"], decision: "deny", priority: 100 };
const askElse: Rule = { ...nothingElse, decision: "ask_user" };
/** For its helper agents the program asks nobody, and waits for the answer all the same. */
const nothingForHelpers: readonly Rule[] = helperAgents.map((name) => ({
  ...nothingElse,
  priority: 150,
  conditions: [`subagent = ${JSON.stringify(name)}`],
}));
const reading: Rule = { tools: readingTools, decision: "allow", priority: 200 };
const editing: Rule = { tools: editingTools, decision: "allow", priority: 200 };
const mcp: Rule = { tools: ["*"], decision: "allow", priority: 200, conditions: ['mcpName = "*"'] };
const readingMcp: Rule = { ...mcp, conditions: [...(mcp.conditions ?? []), "toolAnnotations = { readOnlyHint = true }"] };

/**
 * What a task may do, as a policy that stands above everything the program reads elsewhere: the operator's rules, the workspace, the mode.
 * MCP servers of the dispatch serve a task that may modify with all their tools, one that may inspect with those they call read-only.
 */
export function policyOf(request: Pick<ExecutionRequest, "profile" | "approvals">): string {
  const { profile, approvals } = request;
  const otherwise = needsApproval(request) ? [askElse, ...nothingForHelpers] : [nothingElse];
  if (profile === "inspect") return [nothingElse, reading, readingMcp].map(toToml).join("\n");
  if (approvals === "allow") return toToml(everything);
  return [...[...otherwise, reading, editing, mcp].map(toToml), ...["write_file", "replace"].map(insideWorkspace)].join("\n");
}

function toToml({ tools, decision, priority, conditions = [] }: Rule): string {
  return ["[[rule]]", `toolName = ${JSON.stringify(tools)}`, `decision = "${decision}"`, `priority = ${priority}`, ...conditions, ""].join(
    "\n",
  );
}

/** The program's own check that a path is one of the workspace. */
function insideWorkspace(tool: string): string {
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
