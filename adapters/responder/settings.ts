import { z } from "zod";

/** Settings of the responder. */
export const responderSettingsSchema = z.looseObject({
  /** Tools that a dispatch may use: by name, the program and its first arguments. */
  tools: z.record(z.string(), z.array(z.string().min(1)).min(1)).default({}),
  /** Model of the provider `openai` if a dispatch names none. */
  model: z.string().min(1).optional(),
});
