import { z } from "zod";
import { type AdapterSettings, settingsSchema } from "#contract";
import { defineCommand, defineEnv, defineHome, type ProgramSettings, probeSeconds } from "../shared/agent-program/settings.ts";
import { modelProxy } from "../shared/model-proxy/settings.ts";

/** The setting that selects the home directory. Error messages about a missing login refer to it. */
export const homeSetting = "BRIDGE_CLAUDE_AGENT_SDK_HOME";

/** The settings of the adapter for the Claude Agent SDK. */
export const claudeAgentSdkSettings = {
  package: {
    variable: "BRIDGE_CLAUDE_AGENT_SDK_PACKAGE",
    schema: z
      .string()
      .min(1)
      .optional()
      .describe("Directory in which @anthropic-ai/claude-agent-sdk is installed. Default: the installation directory of Bridge"),
  },
  command: defineCommand("BRIDGE_CLAUDE_AGENT_SDK_COMMAND", "Claude Code", "the executable in the SDK package"),
  home: defineHome(homeSetting, "the Claude Agent SDK"),
  env: defineEnv("BRIDGE_CLAUDE_AGENT_SDK_ENV", "the Claude Agent SDK"),
  probeSeconds,
  modelProxy,
} satisfies AdapterSettings;

const schema = settingsSchema({ package: claudeAgentSdkSettings.package });

/** Returns the directory in which the operator has installed the SDK. Undefined: it is installed with Bridge. */
export const readPackageDirectory = (settings: ProgramSettings): string | undefined => schema.parse(settings).package;
