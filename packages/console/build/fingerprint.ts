import { hash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

const repository = path.resolve(import.meta.dirname, "../../..");
/** What the console is built from. npm writes the last one at every installation. */
const inputs = [
  "packages/console/index.html",
  "packages/console/src",
  "packages/console/build",
  "packages/bridge-client/src",
  "node_modules/.package-lock.json",
];

/** The directory of the built console, which Bridge serves. */
export const builtDirectory = path.join(repository, "packages/console/dist");

/** The file in `builtDirectory` that contains the fingerprint of its inputs. */
export const FINGERPRINT_FILE = ".inputs";

/** Returns a hash of the names, sizes and times of all inputs, not of their content, because every start in a clone waits for it. */
export function fingerprintInputs(): string {
  const files = inputs.flatMap((input) => listFiles(path.join(repository, input)));
  const described = files.map((file) => {
    const { size, mtimeMs } = statSync(file);
    return `${path.relative(repository, file)} ${size} ${mtimeMs}`;
  });
  return hash("sha256", described.toSorted().join("\n"));
}

/** Reports whether a directory contains the console that is built from the inputs with this fingerprint. */
export function isBuiltFrom(fingerprint: string, directory: string): boolean {
  try {
    return readFileSync(path.join(directory, FINGERPRINT_FILE), "utf8") === fingerprint;
  } catch {
    return false;
  }
}

function listFiles(input: string): string[] {
  if (!statSync(input).isDirectory()) return [input];
  return readdirSync(input, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
