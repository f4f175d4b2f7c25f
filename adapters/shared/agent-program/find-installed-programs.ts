import path from "node:path";
import { makePrivateDirectory, removeInside } from "@hak2i/nofollow-fs";
import type { Sandbox } from "#contract";
import { findProgram } from "../process/find-program.ts";
import { probeVersion } from "./probe-program.ts";
import { programEnvironment } from "./program-environment.ts";

/** Behind all other work, on a busy machine, a program may take long to start. */
const LIMIT_MS = 30_000;

/** A program that is there and tells its version. */
export interface InstalledProgram {
  name: string;
  file: string;
  version: string;
}

/** Where and how to look. */
export interface ProgramSearch {
  env: Readonly<Record<string, string | undefined>>;
  /** Where the programs may write while they are asked; made, and gone afterwards. */
  directory: string;
  sandbox: Sandbox | null;
  /** Ends the search early. */
  signal: AbortSignal;
}

/** Which of these programs are on the PATH and work: each is started once to ask its version, one after the other. */
export async function findInstalledPrograms(
  names: readonly string[],
  { env, directory, sandbox, signal }: ProgramSearch,
): Promise<InstalledProgram[]> {
  const pathVariable = env["PATH"] ?? "";
  const context = { dataDir: directory, sandbox, onOrphansKilled: () => {} };
  // Nobody waits for the answer, and tasks may run meanwhile.
  const nice = findProgram("nice", pathVariable);
  const gently = nice === null ? [] : [nice, "-n", "19"];
  const found: InstalledProgram[] = [];
  for (const name of names) {
    const file = findProgram(name, pathVariable);
    if (file === null || signal.aborted) continue;
    makePrivateDirectory(directory);
    const own = programEnvironment({ env, settings: { env: [] } }, []);
    const version = await probeVersion(context, [...gently, file], own, { limitMs: LIMIT_MS, signal }).catch(() => null);
    if (version !== null) found.push({ name, file, version });
  }
  await removeInside(path.dirname(directory), path.basename(directory));
  return found;
}
