import path from "node:path";
import { z } from "zod";
import { type AdapterSettings, choice, readJson, settingsSchema } from "#contract";
import { argvSchema } from "../shared/agent-program/settings.ts";

/** Settings of the OpenClaw adapter. */
export const openClawSettings = {
  url: {
    variable: "BRIDGE_OPENCLAW_URL",
    schema: z
      .url({ protocol: /^wss?$/, error: "must be a ws:// or wss:// URL" })
      .default("ws://127.0.0.1:18789")
      .describe("URL of the OpenClaw gateway, with ws:// or wss://."),
  },
  token: {
    variable: "BRIDGE_OPENCLAW_TOKEN",
    schema: z
      .string()
      .min(1)
      .optional()
      .meta({ description: "Token of the OpenClaw gateway: the value of gateway.auth.token in its configuration.", isSecret: true }),
  },
  workspace: {
    variable: "BRIDGE_OPENCLAW_WORKSPACE",
    schema: choice(["bridge", "agent"])
      .default("bridge")
      .describe(
        "Directory in which tasks work: bridge (Bridge's workspaces, which the gateway must be able to read and write) or agent (the workspace of the OpenClaw agent).",
      ),
  },
  stateDir: {
    variable: "BRIDGE_OPENCLAW_STATE_DIR",
    schema: z
      .string()
      .min(1)
      .transform((directory) => path.resolve(directory))
      .optional()
      .describe("OpenClaw's state directory, if it runs on this host. Enables operations that its API does not offer."),
  },
  command: {
    variable: "BRIDGE_OPENCLAW_COMMAND",
    read: readJson,
    schema: argvSchema('["openclaw"]')
      .optional()
      .describe(
        'OpenClaw\'s command line, if it is installed on this host: a JSON array, for example ["openclaw"]. Enables operations that need it.',
      ),
  },
} satisfies AdapterSettings;

export const openClawSettingsSchema = settingsSchema(openClawSettings);
export type OpenClawSettings = z.infer<typeof openClawSettingsSchema>;
