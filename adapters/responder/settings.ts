import { z } from "zod";
import { type AdapterSettings, readJson, settingsSchema } from "#contract";

const EXAMPLE = '{"flowmark": ["flowmark"]}';
const TOOLS_MESSAGE = `must be a JSON object of names (a-z, then a-z 0-9 -) and arrays of strings, for example ${EXAMPLE}`;

/** The settings of the responder. */
export const responderSettings = {
  tools: {
    variable: "BRIDGE_RESPONDER_TOOLS",
    read: readJson,
    schema: z
      .record(
        z.string().regex(/^[a-z][a-z0-9-]*$/, TOOLS_MESSAGE),
        z.array(z.string(TOOLS_MESSAGE).min(1, TOOLS_MESSAGE), TOOLS_MESSAGE).min(1, TOOLS_MESSAGE),
        TOOLS_MESSAGE,
      )
      .default({})
      .describe(
        `Tools that a dispatch to the responder may name: a JSON object of names and commands, for example ${EXAMPLE}. Default: none`,
      ),
  },
  model: {
    variable: "BRIDGE_RESPONDER_MODEL",
    schema: z.string().min(1).optional().describe("Model of the responder's provider openai, if the dispatch sets none."),
  },
} satisfies AdapterSettings;

export const responderSettingsSchema = settingsSchema(responderSettings);
