import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import { replaceLinks } from "./replace-links.ts";

const repository = path.resolve(import.meta.dirname, "..");

/** The contents of a package; all paths are relative to the repository. */
export interface PackageParts {
  /** The tsconfig that lists its sources. */
  project: string;
  /** Paths of other text files, by their name in the package. Links in Markdown to files outside of the package are replaced. */
  files: Readonly<Record<string, string>>;
  manifest: object;
}

/**
 * Writes a package as it is published into `directory`: JavaScript, type declarations and a manifest. The sources themselves would not
 * run there, because Node strips no types below node_modules.
 */
export async function writePackage(directory: string, { project, files, manifest }: PackageParts): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  await execa("tsc", ["-p", project, "--outDir", directory], { cwd: repository, preferLocal: true, stdio: "inherit" });
  const sources = Object.values(files).map((file) => path.join(repository, file));
  for (const [name, file] of Object.entries(files)) {
    const source = path.join(repository, file);
    const text = readFileSync(source, "utf8");
    writeFileSync(path.join(directory, name), name.endsWith(".md") ? replaceLinks(text, source, sources) : text);
  }
  writeFileSync(path.join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
