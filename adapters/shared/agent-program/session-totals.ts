import { z } from "zod";
import { normalizedUsageSchema } from "#contract";
import { removeOldFiles } from "./remove-old-files.ts";
import { createSessionFiles, type SessionFiles } from "./session-files.ts";

const totalSchema = z.object({ usage: normalizedUsageSchema.optional(), costUsd: z.number().nonnegative().optional() });
/** What a session has used up in all its tasks. */
export type SessionTotal = z.infer<typeof totalSchema>;

/** Sessions that nobody has gone on with for so long are forgotten: the next task's usage is then unknown, not wrong. */
const KEPT_MS = 30 * 24 * 3600 * 1000;

/** Remembers running totals of sessions, because some runtimes count a session where Bridge tells of a task. */
export type SessionTotals = Pick<SessionFiles<SessionTotal>, "read" | "write">;

/** Keeps the totals as one small file a session. */
export const createSessionTotals = (directory: string): SessionTotals => createSessionFiles(directory, totalSchema);

/** Removes the totals of sessions that have not been used for 30 days. */
export const forgetOldTotals = (directory: string, now?: number): Promise<void> => removeOldFiles(directory, KEPT_MS, now);
