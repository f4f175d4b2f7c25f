import type { ProgramContext } from "../agent-program/agent-program.ts";
import { programEnvironment } from "../agent-program/program-environment.ts";
import { dollarVariable } from "./mcp-config.ts";

/** Variables that Claude Code documents: whom it asks, with which credentials, and how often it tries. */
const names = [
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"],
  ...["ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"],
  "CLAUDE_CODE_MAX_RETRIES",
];
/** Those of the clouds that offer the model, by the variable that chooses one: the commands of a task see them too. */
const cloudNames = {
  CLAUDE_CODE_USE_BEDROCK: [
    ...["ANTHROPIC_BEDROCK_BASE_URL", "AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"],
    ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
  ],
  CLAUDE_CODE_USE_VERTEX: [
    ...["ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"],
  ],
};

/** With the usual ten tries a rejected key would take minutes to be told. */
const MAX_RETRIES = "4";

/** The environment of Claude Code, the same over every connection. */
export function claudeEnvironment(
  context: Pick<ProgramContext, "settings" | "env">,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  // Only in the operator's own home; an agent's home is its own.
  const config = context.settings.home === "user" ? ["CLAUDE_CONFIG_DIR"] : [];
  const cloud = Object.entries(cloudNames).flatMap(([choice, ofCloud]) => (context.env[choice] === undefined ? [] : [choice, ...ofCloud]));
  const env = { CLAUDE_CODE_MAX_RETRIES: MAX_RETRIES, ...context.env };
  return programEnvironment({ ...context, env }, [...names, ...cloud, ...config], {
    ...quiet,
    ...plain,
    ...dollarVariable,
    ...own,
  });
}

const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
};

const plain = {
  // Otherwise `@path` in a message reads that file, wherever it lies, and asks nobody.
  CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
  // What goes on behind a task's end would be killed with it; so nothing does.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  // An agent's memory is its workspace and its sessions.
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  // The tools of MCP servers stand in the list like all others, whatever the model.
  ENABLE_TOOL_SEARCH: "false",
};
