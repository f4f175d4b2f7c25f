import path from "node:path";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { needsApproval } from "../shared/agent-program/decide-approval.ts";
import { isToolServer } from "../shared/declared-tools/tool-server-spec.ts";

type Action = "allow" | "ask" | "deny";
/** Permission rules of OpenCode. If several rules match, the last one applies. */
export type Permissions = Record<string, Action | Record<string, Action>>;

export type OpenCodeConnection = "http-api" | "cli";

type TaskPermissions = Pick<ExecutionRequest, "profile" | "approvals" | "mcpServers" | "directories">;

/** Name of the agent that runs every task. */
export const AGENT_NAME = "bridge";

/** The tool through which a model returns structured output. */
export const STRUCTURED_OUTPUT_TOOL = "StructuredOutput";

const ALLOW_READS = { read: "allow", grep: "allow", glob: "allow", list: "allow", [STRUCTURED_OUTPUT_TOOL]: "allow" } as const;
/** Tools that wait for an interactive user. */
const DENY_INTERACTION = { question: "deny", plan_enter: "deny", plan_exit: "deny" } as const;

/** The tool that runs commands. */
export const SHELL_TOOL = "bash";

/** The permission that OpenCode requires for paths outside the workspace, both for its file tools and for paths in commands. */
export const EXTERNAL_DIRECTORY = "external_directory";

/**
 * Builds the permissions of a task. Only actions that can be approved are `ask`; file tools always stay inside the workspace. OpenCode has
 * one permission for file tools and commands outside the workspace, so only Bridge's answers can distinguish them, and `cli` does not wait
 * for answers. `repository` is the root of the git repository that contains the workspace; OpenCode treats it as the workspace.
 */
export function createPermissions(request: TaskPermissions, repository: string | null, connection: OpenCodeConnection): Permissions {
  const { profile, approvals, mcpServers = [], directories } = request;
  const { workspace, tmp } = directories;
  // Tools of an MCP server may change files, so `inspect` allows only the declared tools, which the caller runs.
  if (profile === "inspect") {
    const inside = { [EXTERNAL_DIRECTORY]: { "*": "deny", [createPattern(workspace)]: "allow" } } as const;
    return { "*": "deny", ...ALLOW_READS, ...createToolRules(mcpServers.filter(isToolServer)), ...inside };
  }
  const edits = { edit: createEditRules(workspace, repository) };
  const outside: Action = connection === "http-api" && approvals !== "deny" ? "ask" : "deny";
  const external = { [EXTERNAL_DIRECTORY]: { "*": outside, [createPattern(workspace)]: "allow", [createPattern(tmp)]: "allow" } } as const;
  // A sub-agent has its own permissions, so it needs an approval unless everything is allowed.
  if (approvals === "allow") return { "*": "allow", ...DENY_INTERACTION, ...edits, ...external };
  return {
    "*": needsApproval(request) ? "ask" : "deny",
    ...DENY_INTERACTION,
    ...ALLOW_READS,
    ...createToolRules(mcpServers),
    ...edits,
    todowrite: "allow",
    ...external,
  };
}

/** A rule as the server lists it. */
export interface Rule {
  permission: string;
  pattern: string;
  action: string;
}

/** Checks that the rules contain the requested permissions, followed only by rules for directories that OpenCode itself needs. */
export function matchesPermissions(rules: readonly Rule[], requested: Permissions): boolean {
  const expected = Object.entries(requested).flatMap(([permission, rule]) =>
    Object.entries(typeof rule === "string" ? { "*": rule } : rule).map(([pattern, action]) => ({ permission, pattern, action })),
  );
  return rules.some(
    (_, start) =>
      expected.every((rule, index) => isSame(rule, rules[start + index])) &&
      rules.slice(start + expected.length).every(({ permission }) => permission === EXTERNAL_DIRECTORY),
  );
}

const isSame = (one: Rule, other: Rule | undefined): boolean =>
  one.permission === other?.permission && one.pattern === other.pattern && one.action === other.action;

/**
 * Builds the rules for edits. OpenCode matches an edit by its path relative to the root of the repository, or to the root of the file
 * system if git does not recognize the repository. Outside the repository, the rule for external directories applies.
 */
function createEditRules(workspace: string, repository: string | null): Action | Record<string, Action> {
  const relativePath = repository === null ? "" : path.relative(repository, workspace);
  return relativePath === ""
    ? "allow"
    : { "*": "deny", [createPattern(relativePath)]: "allow", [createPattern(path.relative("/", workspace))]: "allow" };
}

/** Creates the pattern for everything inside a directory. */
const createPattern = (directory: string): string => path.join(directory, "*");

const createToolRules = (servers: readonly McpServerSpec[]): Permissions =>
  Object.fromEntries(servers.map(({ name }) => [`${getToolPrefix(name)}_*`, "allow"] as const));

/** Returns the prefix of the tool names of a server. */
const getToolPrefix = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
