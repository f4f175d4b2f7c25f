import { lstat, readdir, rm } from "node:fs/promises";
import path from "node:path";

/** Removes the files of a directory that were last modified more than `maxAgeMs` ago. The directory need not exist. */
export async function removeOldFiles(directory: string, maxAgeMs: number, now = Date.now()): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const file = path.join(directory, name);
    const { mtimeMs = now } = (await lstat(file).catch(() => null)) ?? {};
    if (now - mtimeMs > maxAgeMs) await rm(file, { force: true });
  }
}
