import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { builtDirectory, fingerprintInputs, isBuiltFrom } from "./fingerprint.ts";

const program = path.join(import.meta.dirname, "build.ts");
const bundler = path.resolve(import.meta.dirname, "../../../node_modules/rolldown");

/**
 * Builds the console in a child process if an input has changed since the last build. An installation without the development dependencies
 * keeps the console that it has. Returns false, after an error on stderr, if the build fails.
 */
export function ensureBuilt(): boolean {
  if (!existsSync(bundler) || isBuiltFrom(fingerprintInputs(), builtDirectory)) return true;
  return spawnSync(process.execPath, [program], { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
}
