import { lstat, readdir, rm } from "node:fs/promises";
import path from "node:path";

/** Removes the files of a directory that were last modified more than `keptMs` ago. The directory need not exist. */
export async function removeOldFiles(directory: string, keptMs: number, now = Date.now()): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const file = path.join(directory, name);
    const { mtimeMs = now } = (await lstat(file).catch(() => null)) ?? {};
    if (now - mtimeMs > keptMs) await rm(file, { force: true });
  }
}
