import { z } from "zod";
import { type AdapterSetting, type AdapterSettings, integer, readInteger, settingsSchema } from "#contract";
import type { ProgramSettings } from "../agent-program/settings.ts";

/** Default of `maxSteps`. A task with more model calls is treated as an endless loop. */
const DEFAULT_MAX_STEPS = 50;

/** The settings that all connections to models share. */
export const modelSettings = {
  maxSteps: {
    variable: "BRIDGE_MODEL_MAX_STEPS",
    read: readInteger,
    schema: integer(1, 10_000)
      .default(DEFAULT_MAX_STEPS)
      .describe("Maximum model calls per task when Bridge calls a model directly, from 1 to 10000."),
  },
} satisfies AdapterSettings;

/** Defines the setting `apiModel` of a program that has the connection `api`. */
export const defineApiModel = (variable: string, title: string, model: string) =>
  ({
    variable,
    schema: z
      .string()
      .min(1)
      .default(model)
      .describe(`Model of a task over the api connection of the adapter for ${title}, if the dispatch sets none.`),
  }) satisfies AdapterSetting;

/** The schema of an http:// or https:// URL. */
export const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http:// or https:// URL" });

const schema = settingsSchema(modelSettings).extend({ apiModel: z.string().optional() });

/** Parses the settings that all connections to models share. */
export const parseModelSettings = (settings: ProgramSettings): z.infer<typeof schema> => schema.parse(settings);
