import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { builtDirectory, fingerprintInputs, isBuiltFrom, ONLY_IF_CHANGED } from "./fingerprint.ts";

const program = path.join(import.meta.dirname, "build.ts");
const bundler = path.resolve(import.meta.dirname, "../../../node_modules/rolldown");

/**
 * Builds the console in a child process if an input has changed since the last build. An installation without the development dependencies
 * keeps the console that it has, and prints how to get the right one. Returns false, after an error on stderr, if the console is not built
 * from the source.
 */
export function ensureBuilt(): boolean {
  try {
    const { sources, packages } = fingerprintInputs();
    if (existsSync(bundler)) {
      if (isBuiltFrom({ sources, packages }, builtDirectory)) return true;
      return spawnSync(process.execPath, [program, ONLY_IF_CHANGED], { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
    }
    if (isBuiltFrom({ sources }, builtDirectory)) return true;
    console.error("The console is not built from this source. Run: npm ci && npm rebuild && npm run build:console");
  } catch (error) {
    console.error(`The source of the console cannot be read: ${String(error)}`);
  }
  return false;
}
