import { hash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { normalizedUsageSchema } from "#contract";
import { removeOldFiles } from "./remove-old-files.ts";

const totalSchema = z.object({ usage: normalizedUsageSchema.optional(), costUsd: z.number().nonnegative().optional() });
/** What a session has used up in all its tasks. */
export type SessionTotal = z.infer<typeof totalSchema>;

/** Sessions that nobody has gone on with for so long are forgotten: the next task's usage is then unknown, not wrong. */
const KEPT_MS = 30 * 24 * 3600 * 1000;

/**
 * Remembers running totals of sessions, because some runtimes count a session where Bridge tells of a task.
 * Kept outside of the agent's home: a task must not be able to rewrite what it has cost.
 */
export interface SessionTotals {
  /** Null when nothing is known about the session. `home` tells sessions of the same id apart. */
  read(home: string, session: string): Promise<SessionTotal | null>;
  write(home: string, session: string, total: SessionTotal): Promise<void>;
}

/** Keeps the totals as one small file a session. */
export function createSessionTotals(directory: string): SessionTotals {
  const fileOf = (home: string, session: string): string => path.join(directory, `${hash("sha256", `${home}\0${session}`)}.json`);
  return {
    async read(home, session) {
      try {
        return totalSchema.parse(JSON.parse(await readFile(fileOf(home, session), "utf8")));
      } catch {
        return null;
      }
    },
    async write(home, session, total) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = fileOf(home, session);
      const draft = `${file}.${randomUUID()}`;
      await writeFile(draft, JSON.stringify(total));
      await rename(draft, file);
    },
  };
}

/** Removes the totals of sessions that have not been used for 30 days. */
export const forgetOldTotals = (directory: string, now?: number): Promise<void> => removeOldFiles(directory, KEPT_MS, now);
