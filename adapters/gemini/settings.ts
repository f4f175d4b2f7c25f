import type { AdapterSettings } from "#contract";
import { command, connection, env, home, probeSeconds } from "../shared/agent-program/settings.ts";
import { apiModel, modelSettings } from "../shared/model-api/settings.ts";

/** The settings of the adapter for Gemini CLI. */
export const geminiSettings = {
  command: command("BRIDGE_GEMINI_COMMAND", "Gemini CLI", "gemini"),
  connection: connection("BRIDGE_GEMINI_CONNECTION", "Gemini CLI", ["cli", "acp", "api"]),
  home: home("BRIDGE_GEMINI_HOME", "Gemini CLI"),
  env: env("BRIDGE_GEMINI_ENV", "Gemini CLI"),
  apiModel: apiModel("BRIDGE_GEMINI_API_MODEL", "Gemini CLI", "gemini-pro-latest"),
  probeSeconds,
  ...modelSettings,
} satisfies AdapterSettings;
