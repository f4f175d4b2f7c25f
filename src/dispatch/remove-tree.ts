import { chmod, readdir, rm } from "node:fs/promises";
import path from "node:path";

/** Removes a directory with all it holds, also where a program has taken away its own right to change it, as package caches do. */
export async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
  } catch (error) {
    if (!isDenied(error)) throw error;
    await permitChanges(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

/** Links are not followed: a directory entry tells what it is itself. */
async function permitChanges(directory: string): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await permitChanges(path.join(directory, entry.name));
  }
}

const isDenied = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");
