import { z } from "zod";

/** The id of a run in a payload. */
export const runIdSchema = z.string().min(1).max(200);
