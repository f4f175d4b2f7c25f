import { z } from "zod";
import { type AdapterSettings, settingsSchema } from "#contract";
import { command, env, home, type ProgramSettings, probeSeconds } from "../shared/agent-program/settings.ts";

/** The name of the setting that chooses the home, for messages to an operator whose login is not found. */
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
  command: command("BRIDGE_CLAUDE_AGENT_SDK_COMMAND", "Claude Code", "the executable in the SDK package"),
  home: home(homeSetting, "the Claude Agent SDK"),
  env: env("BRIDGE_CLAUDE_AGENT_SDK_ENV", "the Claude Agent SDK"),
  probeSeconds,
} satisfies AdapterSettings;

const schema = settingsSchema({ package: claudeAgentSdkSettings.package });

/** The directory in which the operator has installed the SDK; undefined: Bridge's own. */
export const packageDirectory = (settings: ProgramSettings): string | undefined => schema.parse(settings).package;
