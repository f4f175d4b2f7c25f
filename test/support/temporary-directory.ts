import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** Creates a directory that is removed at the end of the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
