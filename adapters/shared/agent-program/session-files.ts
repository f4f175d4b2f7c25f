import { hash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { z } from "zod";
import { stringifyWellFormed } from "#contract";

/** Stores data of sessions, one file each, outside the agents' homes, so that a task cannot change it. */
export interface SessionFiles<T> {
  /** Null if nothing is stored for the session. `home` distinguishes sessions with the same id. */
  read(home: string, session: string): Promise<T | null>;
  write(home: string, session: string, value: T): Promise<void>;
  remove(home: string, session: string): Promise<void>;
}

/** Stores the files in a directory, which need not exist. */
export function createSessionFiles<T>(directory: string, schema: z.ZodType<T>): SessionFiles<T> {
  const fileOf = (home: string, session: string): string => path.join(directory, `${hash("sha256", `${home}\0${session}`)}.json`);
  return {
    async read(home, session) {
      try {
        return schema.parse(JSON.parse(await readFile(fileOf(home, session), "utf8")));
      } catch {
        return null;
      }
    },
    async write(home, session, value) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = fileOf(home, session);
      const draft = `${file}.${randomUUID()}`;
      await writeFile(draft, stringifyWellFormed(value), { mode: 0o600 });
      await rename(draft, file);
    },
    remove: (home, session) => rm(fileOf(home, session), { force: true }),
  };
}
