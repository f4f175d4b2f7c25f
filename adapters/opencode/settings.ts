import { z } from "zod";
import { type AdapterSettings, readJson } from "#contract";
import { defineCommand, defineConnection, defineEnv, defineHome, probeSeconds } from "../shared/agent-program/settings.ts";
import { modelProxy } from "../shared/model-proxy/settings.ts";

/** The settings of the adapter for OpenCode. */
export const openCodeSettings = {
  command: defineCommand("BRIDGE_OPENCODE_COMMAND", "OpenCode", "opencode"),
  connection: defineConnection("BRIDGE_OPENCODE_CONNECTION", "OpenCode", ["http-api", "cli"]),
  home: defineHome("BRIDGE_OPENCODE_HOME", "OpenCode"),
  env: defineEnv("BRIDGE_OPENCODE_ENV", "OpenCode"),
  config: {
    variable: "BRIDGE_OPENCODE_CONFIG",
    read: readJson,
    schema: z
      .record(z.string(), z.unknown(), "must be a JSON object")
      .optional()
      .describe(
        'Configuration of OpenCode with its providers and models: a JSON object, for example {"model":"anthropic/claude-opus-5-5"}. Default: the providers whose API keys are set',
      ),
  },
  probeSeconds,
  modelProxy,
} satisfies AdapterSettings;
