import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { AtEnd } from "./database-subject-types.ts";

/** Creates a directory that is removed at the end of the test; callers outside of a test pass `atEnd`. */
export async function temporaryDirectory(atEnd: AtEnd = onTestFinished): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  // A program that ends because Bridge has ended can still write for a moment.
  atEnd(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  return directory;
}
