import { type AdapterSettings, integer, readInteger, settingsSchema } from "#contract";

/** The settings of all councils. */
export const councilSettings = {
  maxRuns: {
    variable: "BRIDGE_COUNCIL_MAX_RUNS",
    read: readInteger,
    schema: integer(1, 10_000)
      .default(200)
      .describe("Maximum questions of one council, from 1 to 10000. A council that needs more fails before its first question."),
  },
} satisfies AdapterSettings;

export const councilSettingsSchema = settingsSchema(councilSettings);
