import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";

const repository = path.resolve(import.meta.dirname, "..");

/** What a package is made of; all paths begin at the repository. */
export interface PackageParts {
  /** The tsconfig that names its sources. */
  project: string;
  /** Other files, by their name in the package. */
  files: Readonly<Record<string, string>>;
  manifest: object;
}

/**
 * Writes a package as it is published into `directory`: JavaScript with types, and a manifest of its own. Node strips no types below
 * node_modules, so the sources as they are would not run there.
 */
export async function writePackage(directory: string, { project, files, manifest }: PackageParts): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  await execa("tsc", ["-p", project, "--outDir", directory], { cwd: repository, preferLocal: true, stdio: "inherit" });
  for (const [name, source] of Object.entries(files)) cpSync(path.join(repository, source), path.join(directory, name));
  writeFileSync(path.join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
