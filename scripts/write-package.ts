import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import { replaceLinks } from "./replace-links.ts";

const repository = path.resolve(import.meta.dirname, "..");

/** The contents of a package; all paths are relative to the repository. */
export interface PackageParts {
  /** The tsconfig files that list its sources. */
  projects: readonly string[];
  /** Directories that it contains at the same path, without their pages and hidden files. */
  directories?: readonly string[];
  /** Paths of other text files, by their name in the package. Links in Markdown to files outside of the package are replaced. */
  files: Readonly<Record<string, string>>;
  manifest: object;
}

/**
 * Writes a package as it is published into `directory`: JavaScript, type declarations and a manifest. The sources themselves would not
 * run there, because Node strips no types below node_modules.
 */
export async function writePackage(directory: string, { projects, directories = [], files, manifest }: PackageParts): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const project of projects)
    await execa("tsc", ["-p", project, "--outDir", directory], { cwd: repository, preferLocal: true, stdio: "inherit" });
  for (const name of directories)
    cpSync(path.join(repository, name), path.join(directory, name), { recursive: true, filter: (file) => !/\.md$|\/\.[^/]*$/.test(file) });
  const namesBySource = new Map(Object.entries(files).map(([name, file]) => [path.join(repository, file), name]));
  for (const [source, name] of namesBySource) {
    const text = readFileSync(source, "utf8");
    writeFileSync(path.join(directory, name), name.endsWith(".md") ? replaceLinks(text, source, namesBySource) : text);
  }
  writeFileSync(path.join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
