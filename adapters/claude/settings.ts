import type { AdapterSettings } from "#contract";
import { defineCommand, defineConnection, defineEnv, defineHome, probeSeconds } from "../shared/agent-program/settings.ts";
import { defineApiModel, modelSettings } from "../shared/model-api/settings.ts";
import { modelProxy } from "../shared/model-proxy/settings.ts";

/** The setting that selects the home directory. Error messages about a missing login refer to it. */
export const homeSetting = "BRIDGE_CLAUDE_HOME";

/** The settings of the adapter for Claude Code. */
export const claudeSettings = {
  command: defineCommand("BRIDGE_CLAUDE_COMMAND", "Claude Code", "claude"),
  acpCommand: defineCommand("BRIDGE_CLAUDE_ACP_COMMAND", "Claude Code's ACP", "claude-agent-acp"),
  connection: defineConnection("BRIDGE_CLAUDE_CONNECTION", "Claude Code", ["acp", "cli", "api"]),
  home: defineHome(homeSetting, "Claude Code"),
  env: defineEnv("BRIDGE_CLAUDE_ENV", "Claude Code"),
  apiModel: defineApiModel("BRIDGE_CLAUDE_API_MODEL", "Claude Code", "claude-opus-5-5"),
  probeSeconds,
  modelProxy,
  ...modelSettings,
} satisfies AdapterSettings;
