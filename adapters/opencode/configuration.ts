import type { ExecutionRequest, McpServerSpec } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { isToolServer } from "../shared/declared-tools/tool-server-spec.ts";
import { agentName, type Permissions } from "./permissions.ts";
import { findProviders, operatorConfig, providerConfig } from "./providers.ts";

/** What a task's configuration is made of. */
export interface TaskConfig {
  permissions: Permissions;
  /** A file of instructions for the model, beside those that OpenCode has itself. */
  instructions?: string;
}

/** The configuration of a task as JSON: the operator's, and over it what holds for every task. */
export function configText(
  { profile, mcpServers = [] }: Pick<ExecutionRequest, "profile" | "mcpServers">,
  context: Pick<ProgramContext, "settings" | "env">,
  { permissions, instructions }: TaskConfig,
): string {
  const operators = operatorConfig(context);
  const ours = {
    autoupdate: false,
    share: "disabled",
    // A call that is rejected is no reason to give up the task.
    experimental: { ...objectOf(operators["experimental"]), continue_loop_on_deny: true },
    // What these start comes from the workspace, and runs unasked.
    lsp: false,
    formatter: false,
    permission: permissions,
    agent: { [agentName]: { mode: "primary", description: "Works on one task.", permission: permissions } },
    default_agent: agentName,
    // Starting an MCP server can change files. Bridge's own server changes nothing.
    mcp: Object.fromEntries(
      mcpServers.filter((server) => profile === "modify" || isToolServer(server)).map((server) => [server.name, mcpServer(server)]),
    ),
    ...(instructions === undefined ? {} : { instructions: [...listOf(operators["instructions"]), instructions] }),
    ...usableProviders(context),
  };
  const theirs = Object.fromEntries(Object.entries(operators).filter(([name]) => !Object.hasOwn(ours, name)));
  return joinObjects(
    JSON.stringify({ snapshot: false, ...theirs, provider: providerConfig(context) }),
    withoutPlaceholders(JSON.stringify(ours)),
  );
}

/** Without a list OpenCode would also use its own free models, and send the prompt there. */
function usableProviders(context: Pick<ProgramContext, "settings" | "env">) {
  if (context.settings.home === "agent") return { enabled_providers: findProviders(context) };
  return { disabled_providers: [...(operatorConfig(context).disabled_providers ?? []), "opencode"] };
}

function mcpServer(server: McpServerSpec) {
  if (server.transport === "stdio")
    return { type: "local", command: [server.command, ...(server.args ?? [])], environment: server.env ?? {}, enabled: true };
  return { type: "remote", url: server.url, headers: server.headers ?? {}, oauth: false, enabled: true };
}

/** OpenCode replaces `{env:NAME}` and `{file:path}` wherever they stand: that is the operator's to use, not a dispatch's. */
const withoutPlaceholders = (json: string): string => json.replaceAll(/\{(?=env:|file:)/g, "\\u007b");

const joinObjects = (...objects: string[]): string => `{${objects.map((object) => object.slice(1, -1)).join(",")}}`;

const objectOf = (value: unknown): object => (typeof value === "object" && value !== null ? value : {});

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
