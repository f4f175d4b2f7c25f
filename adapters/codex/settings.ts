import type { AdapterSettings } from "#contract";
import { defineCommand, defineConnection, defineEnv, defineHome, probeSeconds } from "../shared/agent-program/settings.ts";
import { defineApiModel, modelSettings } from "../shared/model-api/settings.ts";
import { modelProxy } from "../shared/model-proxy/settings.ts";

/** The settings of the adapter for Codex. */
export const codexSettings = {
  command: defineCommand("BRIDGE_CODEX_COMMAND", "Codex", "codex"),
  acpCommand: defineCommand("BRIDGE_CODEX_ACP_COMMAND", "Codex's ACP", "codex-acp"),
  connection: defineConnection("BRIDGE_CODEX_CONNECTION", "Codex", ["acp", "cli", "api"]),
  home: defineHome("BRIDGE_CODEX_HOME", "Codex"),
  env: defineEnv("BRIDGE_CODEX_ENV", "Codex"),
  apiModel: defineApiModel("BRIDGE_CODEX_API_MODEL", "Codex", "gpt-6.1-sol"),
  probeSeconds,
  modelProxy,
  ...modelSettings,
} satisfies AdapterSettings;
