import type { AdapterSettings } from "#contract";
import { defineCommand, defineConnection, defineEnv, defineHome, probeSeconds } from "../shared/agent-program/settings.ts";
import { defineApiModel, modelSettings } from "../shared/model-api/settings.ts";
import { modelProxy } from "../shared/model-proxy/settings.ts";

/** The settings of the adapter for Gemini CLI. */
export const geminiSettings = {
  command: defineCommand("BRIDGE_GEMINI_COMMAND", "Gemini CLI", "gemini"),
  connection: defineConnection("BRIDGE_GEMINI_CONNECTION", "Gemini CLI", ["cli", "acp", "api"]),
  home: defineHome("BRIDGE_GEMINI_HOME", "Gemini CLI"),
  env: defineEnv("BRIDGE_GEMINI_ENV", "Gemini CLI"),
  apiModel: defineApiModel("BRIDGE_GEMINI_API_MODEL", "Gemini CLI", "gemini-pro-latest"),
  probeSeconds,
  modelProxy,
  ...modelSettings,
} satisfies AdapterSettings;
