import type { ExecutionRequest, McpServerSpec } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { isToolServer } from "../shared/declared-tools/tool-server-spec.ts";
import { AGENT_NAME, type Permissions } from "./permissions.ts";
import { buildProviderConfig, findProviders, parseOperatorConfig } from "./providers.ts";

/** The parts of a configuration that depend on the task. */
export interface ConfigurationParts {
  permissions: Permissions;
  /** A file with instructions that are added to those of OpenCode. */
  instructions?: string;
}

/** Builds the configuration of a task as JSON: the operator's configuration, overridden by that of Bridge. */
export function buildConfiguration(
  { profile, mcpServers = [] }: Pick<ExecutionRequest, "profile" | "mcpServers">,
  context: Pick<ProgramContext, "settings" | "env">,
  { permissions, instructions }: ConfigurationParts,
): string {
  const operatorConfig = parseOperatorConfig(context);
  const bridgeConfig = {
    autoupdate: false,
    share: "disabled",
    // A rejected call does not end the turn.
    experimental: { ...toObject(operatorConfig["experimental"]), continue_loop_on_deny: true },
    // Language servers and formatters run programs of the workspace without permission.
    lsp: false,
    formatter: false,
    permission: permissions,
    agent: { [AGENT_NAME]: { mode: "primary", description: "Works on one task.", permission: permissions } },
    default_agent: AGENT_NAME,
    // A read-only task gets no MCP servers, because starting one can change files. Bridge's own server for declared tools changes none.
    mcp: Object.fromEntries(
      mcpServers.filter((server) => profile === "modify" || isToolServer(server)).map((server) => [server.name, convertMcpServer(server)]),
    ),
    ...(instructions === undefined ? {} : { instructions: [...toList(operatorConfig["instructions"]), instructions] }),
    ...restrictProviders(context),
  };
  const remaining = Object.fromEntries(Object.entries(operatorConfig).filter(([name]) => !Object.hasOwn(bridgeConfig, name)));
  return joinObjects(
    JSON.stringify({ snapshot: false, ...remaining, provider: buildProviderConfig(context) }),
    escapePlaceholders(JSON.stringify(bridgeConfig)),
  );
}

/** Restricts the providers. Without this, OpenCode could send the prompt to its own free models. */
function restrictProviders(context: Pick<ProgramContext, "settings" | "env">) {
  if (context.settings.home === "agent") return { enabled_providers: findProviders(context) };
  return { disabled_providers: [...(parseOperatorConfig(context).disabled_providers ?? []), "opencode"] };
}

function convertMcpServer(server: McpServerSpec) {
  if (server.transport === "stdio")
    return { type: "local", command: [server.command, ...(server.args ?? [])], environment: server.env ?? {}, enabled: true };
  return { type: "remote", url: server.url, headers: server.headers ?? {}, oauth: false, enabled: true };
}

/** Escapes `{env:NAME}` and `{file:path}`, which OpenCode expands anywhere. Only the operator may use them, not a dispatch. */
const escapePlaceholders = (json: string): string => json.replaceAll(/\{(?=env:|file:)/g, "\\u007b");

const joinObjects = (...objects: string[]): string => `{${objects.map((object) => object.slice(1, -1)).join(",")}}`;

const toObject = (value: unknown): object => (typeof value === "object" && value !== null ? value : {});

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
