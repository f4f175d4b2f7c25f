import type { McpServerSpec } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";

/** Model calls of one task: a loop ends before the time of the task does. */
const MAX_TURNS = 200;
/** Attempts at one model call; the program waits about 5 and 10 s between them. */
const MAX_ATTEMPTS = 3;

/** Builds Gemini CLI's settings for one task. The program expands variables in their strings, so dollar signs are escaped. */
export function buildSettingsFile(
  { settings, env }: Pick<ProgramContext, "settings" | "env">,
  mcpServers: readonly McpServerSpec[],
): Record<string, unknown> {
  return {
    security: {
      // Without trust in the workspace it shall work all the same, not refuse to.
      folderTrust: { enabled: false },
      auth: { selectedType: authType(env) },
      // Its own key is nothing for the commands that it runs; what the operator names for them is.
      environmentVariableRedaction: { enabled: true, allowed: settings.env },
    },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: MAX_ATTEMPTS },
    // It would take any answer that repeats itself, such as a long table, for a loop, and drop it.
    model: { maxSessionTurns: MAX_TURNS, disableLoopDetection: true },
    hooksConfig: { enabled: false },
    advanced: { ignoreLocalEnv: true },
    // Else a word after an at sign is taken for the name of any file that is like it.
    context: { fileFiltering: { enableRecursiveFileSearch: false } },
    mcpServers: Object.fromEntries(mcpServers.map((server) => [server.name, mcpServer(server)])),
  };
}

/** How the program signs in, by the variables that its vendor documents. */
function authType(env: ProgramContext["env"]): string {
  if (env["GOOGLE_GENAI_USE_GCA"] === "true") return "oauth-personal";
  return env["GOOGLE_GENAI_USE_VERTEXAI"] === "true" ? "vertex-ai" : "gemini-api-key";
}

function mcpServer(server: McpServerSpec): Record<string, unknown> {
  if (server.transport !== "stdio")
    return { type: server.transport, url: literal(server.url), headers: mapValues(server.headers ?? {}, literal), trust: true };
  return {
    command: literal(server.command),
    args: (server.args ?? []).map(literal),
    // The program expands these twice, the second time as a dotenv file.
    env: mapValues(server.env ?? {}, (value) => literal(value.replaceAll("$", "\\$"))),
    trust: true,
  };
}

const literal = (text: string): string => text.replaceAll("$", () => "$" + "{BRIDGE_UNSET:-$}");

const mapValues = (record: Readonly<Record<string, string>>, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
