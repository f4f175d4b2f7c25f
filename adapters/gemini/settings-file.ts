import type { McpServerSpec } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";

/** Maximum model calls per task, so that a loop ends before the task's timeout. */
const MAX_TURNS = 200;
/** Attempts per model call. Gemini waits about 5 s and 10 s between them. */
const MAX_ATTEMPTS = 3;

/**
 * Time limit of each request to an MCP server, in ms. Gemini has no separate limit for the start. With its default of ten minutes, a server
 * that does not answer would hold the task for as long.
 */
const MCP_REQUEST_LIMIT_MS = 120_000;

/** Finds the name of an MCP server that did not start, in a line of Gemini's debug log. */
export const FAILED_SERVER = /\[MCP error\].*?MCP server '([^']+)'/;

/** Builds Gemini CLI's settings for one task. The program expands variables in all strings of the settings, so dollar signs are escaped. */
export function buildSettingsFile(
  { settings, env }: Pick<ProgramContext, "settings" | "env">,
  mcpServers: readonly McpServerSpec[],
): Record<string, unknown> {
  return {
    security: {
      // With this check enabled, Gemini would refuse to work in an untrusted workspace.
      folderTrust: { enabled: false },
      auth: { selectedType: selectAuthType(env) },
      // Commands do not receive Gemini's key, only the variables that the operator allows.
      environmentVariableRedaction: { enabled: true, allowed: settings.env },
    },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: MAX_ATTEMPTS },
    // Loop detection would discard repetitive answers, such as a long table.
    model: { maxSessionTurns: MAX_TURNS, disableLoopDetection: true },
    hooksConfig: { enabled: false },
    advanced: { ignoreLocalEnv: true },
    // With the search enabled, a word after an at sign would match any file with a similar name.
    context: { fileFiltering: { enableRecursiveFileSearch: false } },
    mcpServers: Object.fromEntries(mcpServers.map((server) => [server.name, createServerSettings(server)])),
  };
}

/** Returns Gemini's authentication type, according to the variables that Google documents. */
function selectAuthType(env: ProgramContext["env"]): string {
  if (env["GOOGLE_GENAI_USE_GCA"] === "true") return "oauth-personal";
  return env["GOOGLE_GENAI_USE_VERTEXAI"] === "true" ? "vertex-ai" : "gemini-api-key";
}

function createServerSettings(server: McpServerSpec): Record<string, unknown> {
  if (server.transport !== "stdio")
    return {
      type: server.transport,
      url: escapeVariables(server.url),
      headers: mapValues(server.headers ?? {}, escapeVariables),
      trust: true,
      timeout: MCP_REQUEST_LIMIT_MS,
    };
  return {
    command: escapeVariables(server.command),
    args: (server.args ?? []).map(escapeVariables),
    // Gemini expands these values twice, the second time by the rules of dotenv files.
    env: mapValues(server.env ?? {}, (value) => escapeVariables(value.replaceAll("$", "\\$"))),
    trust: true,
    timeout: MCP_REQUEST_LIMIT_MS,
  };
}

const escapeVariables = (text: string): string => text.replaceAll("$", () => "$" + "{BRIDGE_UNSET:-$}");

const mapValues = (record: Readonly<Record<string, string>>, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
