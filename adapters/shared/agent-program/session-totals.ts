import { z } from "zod";
import { normalizedUsageSchema } from "#contract";
import { removeOldFiles } from "./remove-old-files.ts";
import { createSessionFiles, type SessionFiles } from "./session-files.ts";

const totalSchema = z.object({ usage: normalizedUsageSchema.optional(), costUsd: z.number().nonnegative().optional() });
/** The usage and cost of all tasks of a session. */
export type SessionTotal = z.infer<typeof totalSchema>;

/** How long the total of an unused session is kept. Without it, the usage of the session's next task is unknown. */
const MAX_AGE_MS = 30 * 24 * 3600 * 1000;

/** Stores the totals of sessions, because some runtimes report usage per session and Bridge reports it per task. */
export type SessionTotals = Pick<SessionFiles<SessionTotal>, "read" | "write">;

/** Stores one file per session in the directory. */
export const createSessionTotals = (directory: string): SessionTotals => createSessionFiles(directory, totalSchema);

/** Removes the totals of sessions that were last used more than 30 days ago. */
export const removeOldTotals = (directory: string, now?: number): Promise<void> => removeOldFiles(directory, MAX_AGE_MS, now);
