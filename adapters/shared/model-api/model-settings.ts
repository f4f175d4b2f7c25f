import { z } from "zod";
import type { ProgramSettings } from "../agent-program/program-settings.ts";
import { modelPricesSchema } from "./prices.ts";

/** Calls of a model in one task, tools between them, before it counts as an endless loop. */
const MAX_STEPS = 50;

const schema = z.object({
  /** Of a connection that stands in for a program: the model of a task that names none. */
  apiModel: z.string().optional(),
  prices: modelPricesSchema.optional(),
  maxSteps: z.number().int().positive().default(MAX_STEPS),
});

/** The settings that all connections to models have. */
export const modelSettingsOf = (settings: ProgramSettings): z.infer<typeof schema> => schema.parse(settings);
