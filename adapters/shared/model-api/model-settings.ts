import { z } from "zod";
import type { ProgramSettings } from "../agent-program/program-settings.ts";
import { modelPricesSchema } from "./prices.ts";

/** Default maximum of model calls per task; more are treated as an endless loop of tool calls. */
const MAX_STEPS = 50;

const schema = z.object({
  /** The default model of the API connection of a program's adapter. */
  apiModel: z.string().optional(),
  prices: modelPricesSchema.optional(),
  maxSteps: z.number().int().positive().default(MAX_STEPS),
});

/** Parses the settings that all model connections share. */
export const modelSettingsOf = (settings: ProgramSettings): z.infer<typeof schema> => schema.parse(settings);
