import { z } from "zod";

/** Settings of the responder. */
export const responderSettingsSchema = z.looseObject({
  /** The tools that a dispatch may name, each with its program and first arguments. */
  tools: z.record(z.string(), z.array(z.string().min(1)).min(1)).default({}),
  /** Model of the provider `openai`, where a dispatch names none. */
  model: z.string().min(1).optional(),
});
