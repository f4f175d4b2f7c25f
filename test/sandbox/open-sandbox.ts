import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, onTestFinished } from "vitest";
import type { Sandbox } from "#contract";
import { createSandbox, type SandboxOptions } from "../../adapters/shared/process/sandbox.ts";

const own = mkdtempSync(path.join(tmpdir(), "bridge-test-sandbox-"));
afterAll(() => rmSync(own, { recursive: true, force: true }));

/** The sandbox of this machine. Throws an error with the reason if it does not work. */
export async function openSandbox({
  hidden = [],
  secrets = [],
  readableWith = () => [],
}: Partial<Pick<SandboxOptions, "hidden" | "secrets" | "readableWith">> = {}): Promise<Sandbox> {
  const programs = [path.resolve(import.meta.dirname, "../..")];
  const made = await createSandbox({ env: process.env, hidden, secrets, programs, directory: own, readableWith });
  if ("missing" in made) throw new Error(`These tests need a sandbox: ${made.missing}`);
  return made;
}

/** A directory that is removed after the test. It is not in /tmp, because a sandbox hides /tmp. */
export function directoryOutsideTmp(): string {
  const directory = mkdtempSync("/var/tmp/bridge-sandbox-");
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
