import { z } from "zod";

/** Settings of every council. */
export const councilSettingsSchema = z.looseObject({
  /** Questions that one council may ask in all. */
  maxRuns: z.number().int().positive().default(200),
});
