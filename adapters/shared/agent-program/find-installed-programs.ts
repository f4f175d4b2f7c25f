import path from "node:path";
import { makePrivateDirectory, removeInside } from "@hak2i/nofollow-fs";
import type { Sandbox } from "#contract";
import { findProgram } from "../process/find-program.ts";
import { probeVersion } from "./probe-program.ts";
import { createProgramEnvironment } from "./program-environment.ts";

/** Generous, because the programs start with the lowest priority. */
const LIMIT_MS = 30_000;

/** A program on PATH that reports its version. */
export interface InstalledProgram {
  name: string;
  file: string;
  version: string;
}

/** Options of a search. */
export interface ProgramSearch {
  env: Readonly<Record<string, string | undefined>>;
  /** Working directory of the programs; created before the search and removed after it. */
  directory: string;
  sandbox: Sandbox | null;
  /** Ends the search early. */
  signal: AbortSignal;
}

/** Returns the programs that are on PATH and report a version. Starts them one after the other. */
export async function findInstalledPrograms(
  names: readonly string[],
  { env, directory, sandbox, signal }: ProgramSearch,
): Promise<InstalledProgram[]> {
  const pathVariable = env["PATH"] ?? "";
  const context = { dataDir: directory, sandbox, onOrphansKilled: () => {} };
  // The search must not slow down running tasks.
  const nice = findProgram("nice", pathVariable);
  const lowPriority = nice === null ? [] : [nice, "-n", "19"];
  const found: InstalledProgram[] = [];
  for (const name of names) {
    const file = findProgram(name, pathVariable);
    if (file === null || signal.aborted) continue;
    makePrivateDirectory(directory);
    const variables = createProgramEnvironment({ env, settings: { env: [] } }, []);
    const version = await probeVersion(context, [...lowPriority, file], variables, { limitMs: LIMIT_MS, signal }).catch(() => null);
    if (version !== null) found.push({ name, file, version });
  }
  await removeInside(path.dirname(directory), path.basename(directory));
  return found;
}
