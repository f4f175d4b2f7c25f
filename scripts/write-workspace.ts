import { readFileSync } from "node:fs";
import path from "node:path";
import { writePackage } from "./write-package.ts";

const packages = path.resolve(import.meta.dirname, "../packages");

/** The fields of a workspace's manifest that the scripts use. */
export interface WorkspaceManifest {
  name: string;
  version: string;
  bin?: Record<string, string>;
  exports?: string;
  dependencies?: Record<string, string>;
}

/**
 * Writes the workspace `packages/<workspace>` into `directory` as it is published. With `isBundled`, it becomes a part of another package,
 * which declares the dependencies of both: npm expects the dependencies of a bundled package in the bundle, and does not install them.
 */
export async function writeWorkspace(workspace: string, directory: string, { isBundled = false } = {}): Promise<void> {
  const { dependencies = {}, ...manifest } = readWorkspaceManifest(workspace);
  await writePackage(directory, {
    projects: [`packages/${workspace}`],
    files: { LICENSE: "LICENSE", "README.md": `packages/${workspace}/README.md` },
    manifest: createManifest({ ...manifest, ...(!isBundled && { dependencies }) }),
  });
}

/** Reads the manifest of the workspace `packages/<workspace>`. */
export const readWorkspaceManifest = (workspace: string): WorkspaceManifest & Record<string, unknown> =>
  JSON.parse(readFileSync(path.join(packages, workspace, "package.json"), "utf8"));

/** Returns the published manifest, in which some fields have another value. */
function createManifest({ exports, bin, dependencies, ...manifest }: WorkspaceManifest & Record<string, unknown>): object {
  const { name, version, description, license, type, sideEffects, engines } = manifest;
  return {
    name,
    version,
    description,
    license,
    type,
    sideEffects,
    engines,
    ...(bin !== undefined && { bin: mapValues(bin, toBuiltPath) }),
    exports: exports === undefined ? {} : { ".": { types: toBuiltPath(exports).replace(/\.js$/, ".d.ts"), default: toBuiltPath(exports) } },
    // npm publishes a package with a scope as private by default.
    ...(name.startsWith("@") && { publishConfig: { access: "public" } }),
    ...(dependencies !== undefined && { dependencies: mapValues(dependencies, (exact) => `^${exact}`) }),
  };
}

/** Returns the path that a compiled source file has in the package. */
function toBuiltPath(source: string): string {
  return source.replace("./src/", "./").replace(/\.ts$/, ".js");
}

function mapValues(record: Record<string, string>, map: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
