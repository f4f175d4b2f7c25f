import type { AdapterSettings } from "#contract";
import { command, connection, env, home, probeSeconds } from "../shared/agent-program/settings.ts";
import { apiModel, modelSettings } from "../shared/model-api/settings.ts";

/** The settings of the adapter for Codex. */
export const codexSettings = {
  command: command("BRIDGE_CODEX_COMMAND", "Codex", "codex"),
  acpCommand: command("BRIDGE_CODEX_ACP_COMMAND", "Codex's ACP", "codex-acp"),
  connection: connection("BRIDGE_CODEX_CONNECTION", "Codex", ["acp", "cli", "api"]),
  home: home("BRIDGE_CODEX_HOME", "Codex"),
  env: env("BRIDGE_CODEX_ENV", "Codex"),
  apiModel: apiModel("BRIDGE_CODEX_API_MODEL", "Codex", "gpt-6.1-sol"),
  probeSeconds,
  ...modelSettings,
} satisfies AdapterSettings;
