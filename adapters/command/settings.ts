import { z } from "zod";
import { type AdapterSettings, expected, readFlag, readJson, readList } from "#contract";
import { argvSchema } from "../shared/agent-program/settings.ts";

/** The settings of the adapter that runs any program. */
export const commandSettings = {
  argv: {
    variable: "BRIDGE_COMMAND",
    read: readJson,
    schema: argvSchema('["node","/opt/agent.js"]')
      .optional()
      .describe(
        'Program of the command adapter with its arguments: a JSON array, for example ["node","/opt/agent.js"]. Default: the example agent in examples/agents/',
      ),
  },
  approvals: {
    variable: "BRIDGE_COMMAND_APPROVALS",
    read: readFlag,
    schema: z
      .boolean(expected("true or false"))
      .default(false)
      .describe(
        "Whether the program of the command adapter asks for approvals: its stdin then stays open after the request, for the decisions.",
      ),
  },
  env: {
    variable: "BRIDGE_COMMAND_ENV",
    read: readList,
    schema: z
      .array(z.string())
      .default([])
      .describe("Names of environment variables that Bridge passes to the program of the command adapter, comma-separated."),
  },
} satisfies AdapterSettings;
