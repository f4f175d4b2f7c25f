import { cpSync, symlinkSync } from "node:fs";
import path from "node:path";

const repository = path.resolve(import.meta.dirname, "../..");
/** What Bridge needs to run. */
const COPIED = ["src", "adapters", "packages", "migrations", "package.json"];

/** Copies the source of Bridge to a directory, from which it can run. */
export function copySource(directory: string, source: string = repository): void {
  for (const entry of COPIED) cpSync(path.join(source, entry), path.join(directory, entry), { recursive: true });
  symlinkSync(path.join(repository, "node_modules"), path.join(directory, "node_modules"));
}
