import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

/** Returns the version of this package. */
export function readVersion(): string {
  // The relative path of the manifest differs between the source and the built package.
  const file = findPackageJSON(import.meta.url);
  return file === undefined ? "unknown" : (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
