import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

const repository = path.resolve(import.meta.dirname, "../../..");
/** What the console is built from, without installed packages. */
const sources = ["packages/console/index.html", "packages/console/src", "packages/console/build", "packages/bridge-client/src"];
/** npm writes this file at every installation, also when it removes packages. */
const installed = "node_modules/.package-lock.json";

/** The directory of the built console, which Bridge serves. */
export const builtDirectory = path.join(repository, "packages/console/dist");

/** The file in `builtDirectory` that contains the fingerprint of its inputs. */
export const FINGERPRINT_FILE = ".inputs";

/** The argument of `build.ts` with which it keeps a console that another program has just built from the same inputs. */
export const ONLY_IF_CHANGED = "--only-if-changed";

/** The inputs of a console. */
export interface Fingerprint {
  sources: string;
  /** The installed packages. */
  packages: string;
}

/** Returns hashes of the names, sizes and times of all inputs, not of their content, because every start in a clone waits for it. */
export const fingerprintInputs = (): Fingerprint => ({
  sources: hashFiles(sources.flatMap((input) => listFiles(path.join(repository, input)))),
  packages: hashFiles([path.join(repository, installed)]),
});

/** Reports whether a directory contains the console that is built from these inputs, or from those of them that are given. */
export function isBuiltFrom(fingerprint: Partial<Fingerprint>, directory: string): boolean {
  if (!existsSync(path.join(directory, "index.html"))) return false;
  try {
    const built = JSON.parse(readFileSync(path.join(directory, FINGERPRINT_FILE), "utf8")) as Fingerprint;
    return Object.entries(fingerprint).every(([name, value]) => built[name as keyof Fingerprint] === value);
  } catch {
    return false;
  }
}

/** A file can disappear meanwhile, and not every program that installs packages writes the list of npm. */
function hashFiles(files: readonly string[]): string {
  const described = files.flatMap((file) => {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats === undefined ? [] : [`${path.relative(repository, file)} ${stats.size} ${stats.mtimeMs}`];
  });
  return hash("sha256", described.toSorted().join("\n"));
}

function listFiles(input: string): string[] {
  if (!statSync(input).isDirectory()) return [input];
  return readdirSync(input, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
