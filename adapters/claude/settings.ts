import type { AdapterSettings } from "#contract";
import { command, connection, env, home, probeSeconds } from "../shared/agent-program/settings.ts";
import { apiModel, modelSettings } from "../shared/model-api/settings.ts";

/** The setting that selects the home directory. Error messages about a missing login name it. */
export const homeSetting = "BRIDGE_CLAUDE_HOME";

/** The settings of the adapter for Claude Code. */
export const claudeSettings = {
  command: command("BRIDGE_CLAUDE_COMMAND", "Claude Code", "claude"),
  acpCommand: command("BRIDGE_CLAUDE_ACP_COMMAND", "Claude Code's ACP", "claude-agent-acp"),
  connection: connection("BRIDGE_CLAUDE_CONNECTION", "Claude Code", ["acp", "cli", "api"]),
  home: home(homeSetting, "Claude Code"),
  env: env("BRIDGE_CLAUDE_ENV", "Claude Code"),
  apiModel: apiModel("BRIDGE_CLAUDE_API_MODEL", "Claude Code", "claude-opus-5-5"),
  probeSeconds,
  ...modelSettings,
} satisfies AdapterSettings;
