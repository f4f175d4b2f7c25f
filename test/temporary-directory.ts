import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** A directory that goes away with the test. */
export const temporaryDirectory = (): Promise<string> => temporaryDirectoryOf(onTestFinished);

/** A directory that goes away at the end of whatever it is of: `afterAll` for all tests of a file. */
export async function temporaryDirectoryOf(atEnd: (remove: () => Promise<void>) => void): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  atEnd(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
