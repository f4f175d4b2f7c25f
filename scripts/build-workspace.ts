import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { writePackage } from "./write-package.ts";

const packages = path.resolve(import.meta.dirname, "../packages");

/** Fields of a workspace's manifest that have another value in the published manifest. */
interface Manifest {
  name: string;
  bin?: Record<string, string>;
  exports?: string;
  dependencies?: Record<string, string>;
}

const { positionals, values } = parseArgs({ allowPositionals: true, options: { into: { type: "string" } } });
if (positionals.length === 0) throw new Error("Usage: build-workspace.ts <directory below packages/> … [--into <directory>]");

// Builds each package as it is published: into its own dist/, or with --into below that directory.
for (const workspace of positionals) {
  const { into } = values;
  const directory = into === undefined ? path.join(packages, workspace, "dist") : path.resolve(into, workspace);
  await writePackage(directory, {
    project: `packages/${workspace}`,
    files: { LICENSE: "LICENSE", "README.md": `packages/${workspace}/README.md` },
    manifest: createManifest(JSON.parse(readFileSync(path.join(packages, workspace, "package.json"), "utf8"))),
  });
}

function createManifest({ exports, bin, dependencies = {}, ...manifest }: Manifest & Record<string, unknown>): object {
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
    dependencies: mapValues(dependencies, (exact) => `^${exact}`),
  };
}

/** Returns the path that a compiled source file has in the package. */
function toBuiltPath(source: string): string {
  return source.replace("./src/", "./").replace(/\.ts$/, ".js");
}

function mapValues(record: Record<string, string>, map: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
