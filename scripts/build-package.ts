import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { execa } from "execa";

const repository = path.resolve(import.meta.dirname, "..");

const { positionals } = parseArgs({ allowPositionals: true });
await buildPackage(path.resolve(positionals[0] ?? path.join(repository, "dist")));

/**
 * Writes the package that adapter authors install into `directory`: the contract and the conformance kit, as JavaScript with types.
 * Node strips no types below node_modules, so the sources as they are would not run there.
 */
async function buildPackage(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  await execa("tsc", ["-p", "tsconfig.build.json", "--outDir", directory], { cwd: repository, preferLocal: true, stdio: "inherit" });
  for (const name of ["LICENSE", "CHANGELOG.md"]) cpSync(path.join(repository, name), path.join(directory, name));
  cpSync(path.join(repository, "docs/adapters.md"), path.join(directory, "README.md"));
  writeFileSync(path.join(directory, "package.json"), `${JSON.stringify(describePackage(), null, 2)}\n`);
}

/** The manifest of the published package: its own entries and only the dependencies that they need. */
function describePackage(): object {
  const { name, version, description, license, type, engines, dependencies, devDependencies } = JSON.parse(
    readFileSync(path.join(repository, "package.json"), "utf8"),
  );
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    imports: { "#contract": "./src/contract/index.js" },
    exports: { "./contract": "./src/contract/index.js", "./conformance": "./test/conformance/adapter.js" },
    dependencies: { zod: dependencies.zod },
    peerDependencies: { vitest: `^${devDependencies.vitest}` },
    peerDependenciesMeta: { vitest: { optional: true } },
  };
}
