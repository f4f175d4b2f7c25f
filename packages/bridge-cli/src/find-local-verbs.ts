import { createRequire, findPackageJSON } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { LocalVerbs } from "./verb.ts";

/**
 * Returns the commands of a server that is installed next to this package: in a clone or an image, which contains both, or as a package.
 * Null on a machine without the server. Never looks into the current directory, because its code would run.
 */
export async function findLocalVerbs(): Promise<LocalVerbs | null> {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) return null;
  // The project around this package: the server itself, or one in which the server is installed.
  const project = findPackageJSON("..", pathToFileURL(path.dirname(manifest)));
  let module: string;
  try {
    module = createRequire(project ?? manifest).resolve("bridge-server/local-verbs");
  } catch {
    return null;
  }
  return (await import(pathToFileURL(module).href)) as LocalVerbs;
}
