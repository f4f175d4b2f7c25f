import path from "node:path";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { needsApproval } from "../shared/agent-program/decide-approval.ts";
import { isToolServer } from "../shared/declared-tools/tool-server-spec.ts";

type Action = "allow" | "ask" | "deny";
/** Rules of OpenCode: of those that match, the last decides. */
export type Permissions = Record<string, Action | Record<string, Action>>;
/** The ways to reach OpenCode. */
export type OpenCodeConnection = "http-api" | "cli";

type Rights = Pick<ExecutionRequest, "profile" | "approvals" | "mcpServers" | "directories">;

/** The agent of every task. */
export const agentName = "bridge";

/** The tool by which a model answers in a wanted form. */
export const formTool = "StructuredOutput";

const reading = { read: "allow", grep: "allow", glob: "allow", list: "allow", [formTool]: "allow" } as const;
/** Nobody is there to answer them. */
const conversing = { question: "deny", plan_enter: "deny", plan_exit: "deny" } as const;

/** The tool that runs commands. */
export const shellTool = "bash";

/** The permission that OpenCode wants for paths outside of the workspace: of its file tools, and of what a command names. */
export const outsidePermission = "external_directory";

/**
 * The permissions of a task. Only actions that can be approved are `ask`; file tools always stay inside the workspace. OpenCode has one permission for
 * file tools and commands outside of the workspace, so only Bridge's answers can distinguish them, and `cli` does not wait for answers. `repository` is the
 * root of the git repository around the workspace, which OpenCode would take for the workspace.
 */
export function permissionsOf(request: Rights, repository: string | null, connection: OpenCodeConnection): Permissions {
  const { profile, approvals, mcpServers = [], directories } = request;
  const { workspace, tmp } = directories;
  // Inspecting changes nothing, and of the tools of an MCP server nobody knows what they do, but for the declared ones.
  if (profile === "inspect") {
    const inside = { [outsidePermission]: { "*": "deny", [below(workspace)]: "allow" } } as const;
    return { "*": "deny", ...reading, ...allowTools(mcpServers.filter(isToolServer)), ...inside };
  }
  const editing = { edit: editsIn(workspace, repository) };
  const outside: Action = connection === "http-api" && approvals !== "deny" ? "ask" : "deny";
  const working = { [outsidePermission]: { "*": outside, [below(workspace)]: "allow", [below(tmp)]: "allow" } } as const;
  // A sub-agent would have rights of its own.
  if (approvals === "allow") return { "*": "allow", ...conversing, ...editing, ...working };
  return {
    "*": needsApproval(request) ? "ask" : "deny",
    ...conversing,
    ...reading,
    ...allowTools(mcpServers),
    ...editing,
    todowrite: "allow",
    ...working,
  };
}

/** Rules as the server lists them. */
export interface Rule {
  permission: string;
  pattern: string;
  action: string;
}

/** Are these the rules that were asked for, with nothing behind them but directories that OpenCode itself needs? */
export function areAsAsked(rules: readonly Rule[], asked: Permissions): boolean {
  const wanted = Object.entries(asked).flatMap(([permission, rule]) =>
    Object.entries(typeof rule === "string" ? { "*": rule } : rule).map(([pattern, action]) => ({ permission, pattern, action })),
  );
  return rules.some(
    (_, start) =>
      wanted.every((rule, index) => isSame(rule, rules[start + index])) &&
      rules.slice(start + wanted.length).every(({ permission }) => permission === outsidePermission),
  );
}

const isSame = (one: Rule, other: Rule | undefined): boolean =>
  one.permission === other?.permission && one.pattern === other.pattern && one.action === other.action;

/**
 * Edits are named by their path from the root of the repository, or of the file system where git does not take it for one; elsewhere the
 * rule about external directories holds them.
 */
function editsIn(workspace: string, repository: string | null): Action | Record<string, Action> {
  const relative = repository === null ? "" : path.relative(repository, workspace);
  return relative === "" ? "allow" : { "*": "deny", [below(relative)]: "allow", [below(path.relative("/", workspace))]: "allow" };
}

const below = (directory: string): string => path.join(directory, "*");

const allowTools = (servers: readonly McpServerSpec[]): Permissions =>
  Object.fromEntries(servers.map(({ name }) => [`${toolPrefix(name)}_*`, "allow"] as const));

/** The name of a server in the names of its tools. */
const toolPrefix = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
