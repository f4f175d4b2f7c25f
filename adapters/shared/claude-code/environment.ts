import type { ProgramContext } from "../agent-program/agent-program.ts";
import { createProgramEnvironment } from "../agent-program/program-environment.ts";
import { DOLLAR_VARIABLE } from "./mcp-config.ts";

/** Documented variables of Claude Code: endpoint, credentials, models and retries. */
const VARIABLES = [
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"],
  ...["ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"],
  "CLAUDE_CODE_MAX_RETRIES",
];
/** Variables of cloud vendors, by the variable that selects the vendor. Shell commands of a task see them, too. */
const CLOUD_VARIABLES = {
  CLAUDE_CODE_USE_BEDROCK: [
    ...["ANTHROPIC_BEDROCK_BASE_URL", "AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"],
    ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
  ],
  CLAUDE_CODE_USE_VERTEX: [
    ...["ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"],
  ],
};

/** With the default of ten retries, Claude Code would take minutes to report a rejected key. */
const MAX_RETRIES = "4";

/** Creates the environment of Claude Code, for all connections. */
export function createClaudeEnvironment(
  context: Pick<ProgramContext, "settings" | "env">,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  // Agents have their own configuration in their home directories.
  const config = context.settings.home === "user" ? ["CLAUDE_CONFIG_DIR"] : [];
  const cloud = Object.entries(CLOUD_VARIABLES).flatMap(([selector, names]) =>
    context.env[selector] === undefined ? [] : [selector, ...names],
  );
  const env = { CLAUDE_CODE_MAX_RETRIES: MAX_RETRIES, ...context.env };
  return createProgramEnvironment({ ...context, env }, [...VARIABLES, ...cloud, ...config], {
    ...NO_TELEMETRY,
    ...TASK_BEHAVIOR,
    ...DOLLAR_VARIABLE,
    ...own,
  });
}

const NO_TELEMETRY = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
};

const TASK_BEHAVIOR = {
  // Otherwise `@path` in a message reads any file without permission.
  CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
  // Background work would be killed at the end of the task.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  // The memory of an agent is its workspace and its sessions.
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  // Lists MCP tools directly, for all models.
  ENABLE_TOOL_SEARCH: "false",
};
